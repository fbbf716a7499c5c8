import type { Event, RecordedEvent } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';

/**
 * A projection for which applying many events at once costs less than one by one. The addresses' is the only one: a rebuild of 150,000 changes
 * of single addresses takes 7.5 s with it and 11.0 s without (1.47 times). It goes when that factor falls below 1.1.
 */
export type BatchedProjection<E extends Event, View extends object> = Projection<E, View> &
  Readonly<{
    /** Begins to collect the events that follow on a view. */
    batch: (view: View) => Batch<E, View>;
  }>;

/** Events on their way into one view: what comes out is what `evolve` makes of them, one after the other. */
export type Batch<E extends Event, View extends object> = Readonly<{
  /** Takes the next event, if that changes the view and can wait. `false`: it is for `evolve`, after all that was taken. */
  take: (event: RecordedEvent<E>) => boolean;
  /** The view with all that was taken, which is at least one event. */
  view: () => View;
}>;
