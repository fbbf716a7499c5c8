import type { Event } from './event.ts';
import type { GetPart, PutPart } from './parts.ts';

/** An intention, in the imperative. */
export type Command<Type extends string = string, Data extends object = object> = Readonly<{
  type: Type;
  data: Readonly<Data>;
}>;

/** The rules say no. A value, never thrown: `because` is the sentence for the caller, `field` what it is about. */
export type Refusal<Code extends string = string> = Readonly<{ refused: Code; because: string; field?: string }>;

/** What a decider answers: new facts, nothing new (`[]`), or a refusal. */
export type Decision<E extends Event> = readonly E[] | Refusal;

/**
 * The rules of one stream category, pure. Asking twice must be harmless: the second answer is `[]` or the same refusal.
 * `snapshot`, where given, turns the state into JSON and back, so that a long stream need not be replayed whole; what is large may be kept
 * apart from it. `weight` says how many small events one takes as long to replay as.
 */
export type Decider<C extends Command, S, E extends Event> = Readonly<{
  category: string;
  initial: S;
  evolve: (state: S, event: E & Readonly<{ revision: bigint }>) => S;
  decide: (command: C, state: S) => Decision<E>;
  snapshot?: Readonly<{
    version: number;
    encode: (state: S, put?: PutPart) => unknown;
    decode: (stored: unknown, get?: GetPart) => S;
    weight?: (event: E) => number;
  }>;
}>;

/** Makes a refusal. */
export function refuse<Code extends string>(refused: Code, because: string, field?: string): Refusal<Code> {
  return field === undefined ? { refused, because } : { refused, because, field };
}

/** Tells a refusal from events, or from what came of a command. What is refused is a code: a state or a view may have a field of that name too. */
export function isRefusal(answer: object): answer is Refusal {
  return 'refused' in answer && typeof answer.refused === 'string';
}
