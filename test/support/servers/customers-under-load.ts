// Customers who change addresses on several servers, one call after another, whatever happens to the servers and their stores.
import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { waitUntil } from '../wait-until.ts';
import { addCustomer, type Edgeward, type EdgewardProcess, type TestCustomer } from './edgeward-server.ts';

export const FAILOVER_SECONDS = 60;
const HOSTS = 32;

export type RunningServer = Readonly<{ url: string; process: EdgewardProcess }>;
/** A customer with one IPv4 subnet; a given event store may know others of its name, and other subnets. */
export async function addLoadedCustomer(
  edgeward: Edgeward,
  name: string,
  region: string,
  webhook?: string,
): Promise<Named> {
  const block = `10.${randomInt(256)}.${randomInt(256)}`;
  const full = `${name}-${randomUUID().slice(0, 8)}`;
  const options = ['--allow-synchronous', ...(webhook === undefined ? [] : ['--webhook-url', webhook])];
  return { block, ...(await addCustomer(edgeward, full, [[`${block}.0/27`, region]], options)) };
}

export type Named = TestCustomer & Readonly<{ block: string }>;

export function addressOf({ block }: Named, host: number): string {
  return `${block}.${host}`;
}

export type Model = {
  customer: Named;
  disabled: Set<string>;
  /** Asked for without having been answered: either is right. */
  uncertain: Set<string>;
};

export type Load = Readonly<{ answered: (more: number) => Promise<void>; stop: () => Promise<void> }>;

/** Each customer changes addresses, one call after another, each on any server, and looks at each change on any other. */
export function startLoad(models: readonly Model[], servers: readonly RunningServer[], random: () => number): Load {
  const stopped = new AbortController();
  let count = 0;
  const any = (): string => servers[Math.floor(random() * servers.length)]?.url ?? '';
  const working = models.map(async (model) => {
    while (!stopped.signal.aborted) if (await changeAndLook(model, any, random)) count += 1;
  });
  return {
    answered: async (more) => {
      const wanted = count + more;
      await waitUntil(`${more} more answers`, () => count >= wanted, FAILOVER_SECONDS);
    },
    stop: async () => {
      stopped.abort();
      await Promise.all(working);
    },
  };
}

/** Whether it was answered. */
async function changeAndLook(model: Model, any: () => string, random: () => number): Promise<boolean> {
  const { customer, disabled, uncertain } = model;
  const action = random() < 0.6 ? 'disable' : 'enable';
  const address = addressOf(customer, Math.floor(random() * HOSTS));
  uncertain.add(address);
  const body = { ip: address, synchronous: random() < 0.1 };
  const written = await ask(customer, `${any()}/api/v1/ips/${action}`, body);
  if (written === undefined) return false;
  if (written.status !== 200) {
    assert.is(written.status, 503, written.text);
    return false;
  }
  uncertain.delete(address);
  if (action === 'disable') disabled.add(address);
  else disabled.delete(address);
  const read = await ask(customer, `${any()}/api/v1/subnets/${customer.subnetIds[0]}`);
  if (read !== undefined && read.status !== 503) {
    assert.is(read.status, 200, read.text);
    assert.match(read.text, `"address":"${address}","status":"${action}d"`, 'whoever is asked next shows it');
  }
  return true;
}

/** Undefined: the server went away before it had answered. */
async function ask(
  { token }: TestCustomer,
  url: string,
  body?: object,
): Promise<Readonly<{ status: number; text: string }> | undefined> {
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

const subnet = z.object({
  data: z.object({
    ips: z.array(z.object({ address: z.string(), status: z.string() })),
  }),
  meta: z.object({ pending_changes: z.number() }),
});

/** Waits until nothing is pending; then every server shows what the model says. */
export async function settled(
  { customer, disabled, uncertain }: Model,
  servers: readonly RunningServer[],
): Promise<void> {
  const shownBy = ({ url }: RunningServer) =>
    waitUntil(
      `${customer.name} has nothing pending on ${url}`,
      async () => {
        const answer = await ask(customer, `${url}/api/v1/subnets/${customer.subnetIds[0]}`);
        // Nobody may lead for a moment.
        if (answer?.status === 503) return undefined;
        assert.is(answer?.status, 200, answer?.text);
        const { data, meta } = subnet.parse(JSON.parse(answer?.text ?? ''));
        return meta.pending_changes === 0 ? data.ips : undefined;
      },
      FAILOVER_SECONDS,
    );
  for (const server of servers) {
    const shown = await shownBy(server);
    for (const { address, status } of shown) {
      // Asked for without having been answered: what the first one says goes for all.
      if (!uncertain.delete(address)) continue;
      if (status === 'disabled') disabled.add(address);
      else disabled.delete(address);
    }
    const held = shown.filter(({ status }) => status === 'disabled').map(({ address }) => address);
    assert.equal(new Set(held), disabled, `${customer.name} on ${server.url}`);
  }
}

export function routerList(edgeward: Edgeward, { name }: TestCustomer, router: string): readonly string[] {
  const file = join(edgeward.folder, router, `Svc-${name.toUpperCase()}-BLACKHOLE`);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** Spells each list out address by address: the model knows nothing of aggregation. */
export function checkRouters(edgeward: Edgeward, customer: Named, region: string, disabled: ReadonlySet<string>): void {
  for (const router of [region, `${region}-2`]) {
    const held = routerList(edgeward, customer, router).flatMap((cidr) => {
      const [first = '', length] = cidr.split('/');
      const host = Number(first.split('.')[3]);
      return Array.from({ length: 2 ** (32 - Number(length)) }, (_, at) => addressOf(customer, host + at));
    });
    assert.equal(new Set(held), new Set(disabled), `${customer.name} on ${router}`);
  }
}
