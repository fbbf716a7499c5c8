import type { Event } from '../kernel/event.ts';
import type { Aggregate } from '../commands/aggregate.ts';
import type { Lease } from '../ports/leases.ts';
import { type RouterDriver, RouterFailure } from '../ports/routers.ts';
import type { ProcessTools } from './process-wiring.ts';

/** The right to run the processes has gone to another server, or soon may. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

type Held = Pick<Lease, 'name' | 'isHeld'>;

function checkOf(lease: Held): () => void {
  return () => {
    if (!lease.isHeld()) throw new LeaseLost(`the lease ${lease.name} is held no more: another server goes on`);
  };
}

/** Tools with which nothing is recorded or pushed any more from the moment at which the lease can't be relied upon. */
export function fencedRouterTools<T extends Pick<ProcessTools, 'aggregates' | 'routerDrivers'>>(
  tools: T,
  lease: Held,
): T {
  const { aggregates, routerDrivers } = tools;
  const check = checkOf(lease);
  return {
    ...tools,
    aggregates: fencedAggregates(aggregates, check),
    routerDrivers: {
      ...routerDrivers,
      driverOf: (regionId, router) => fencedDriver(routerDrivers.driverOf(regionId, router), check),
    },
  };
}

/** The same, with which nothing is sent or launched either. */
export function fencedTools(tools: ProcessTools, lease: Held): ProcessTools {
  const { sender, openCloud } = tools;
  const check = checkOf(lease);
  return {
    ...fencedRouterTools(tools, lease),
    sender: {
      ...sender,
      send: async (request, signal) => {
        check();
        return sender.send(request, signal);
      },
    },
    openCloud: (account) => {
      check();
      return openCloud(account);
    },
  };
}

type AnyAggregate = Aggregate<never, unknown, Event>;

function fencedAggregates<A extends Readonly<Record<string, AnyAggregate>>>(aggregates: A, check: () => void): A {
  const fenced = Object.entries(aggregates).map(([name, aggregate]): readonly [string, AnyAggregate] => {
    const handle: AnyAggregate['handle'] = async (...call) => {
      check();
      return aggregate.handle(...call);
    };
    return [name, { ...aggregate, handle }];
  });
  return { ...aggregates, ...Object.fromEntries(fenced) };
}

/** What changes a router is fenced; reading harms nothing. */
function fencedDriver(driver: RouterDriver, check: () => void): RouterDriver {
  const { replace, remove, save, prepare, text } = driver;
  const fenced = async <T>(change: () => Promise<T>): Promise<T> => {
    try {
      check();
    } catch (cause) {
      throw new RouterFailure('timed-out', 'nothing was sent: another server has taken over', { cause });
    }
    return change();
  };
  return {
    ...driver,
    replace: (...change) => fenced(() => replace(...change)),
    remove: (...change) => fenced(() => remove(...change)),
    ...(text === undefined ? {} : { text: { ...text, replace: (...change) => fenced(() => text.replace(...change)) } }),
    ...(save === undefined ? {} : { save: (signal) => fenced(() => save(signal)) }),
    ...(prepare === undefined
      ? {}
      : {
          prepare: (...change) =>
            fenced(async () => {
              const prepared = await prepare(...change);
              return prepared && { ...prepared, commit: (signal) => fenced(() => prepared.commit(signal)) };
            }),
        }),
  };
}
