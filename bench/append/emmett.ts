// emmett-sqlite as its documents advise for one process: one connection, kept open.
import { baselineFunction } from '../baselines.ts';
import type { Fact } from './events.ts';

const EMMETT = '@event-driven-io/emmett-sqlite';

export type EmmettLog = Readonly<{ append: (fact: Fact) => Promise<unknown>; close: () => void }>;

export async function openEmmett(file: string): Promise<EmmettLog> {
  const connect = await baselineFunction(EMMETT, 'sqliteConnection');
  const open = await baselineFunction(EMMETT, 'getSQLiteEventStore');
  const connection = connect({ fileName: file });
  const store = open({
    fileName: file,
    schema: { autoMigration: 'CreateOrUpdate' },
    connectionOptions: { singleton: true, connection },
  });
  await call(Reflect.get(Object(store), 'schema'), 'migrate');
  return {
    append: ({ customer, event: { type, data }, ...said }) =>
      call(store, 'appendToStream', customer, [{ type, data: { type, customer, data, ...said } }]),
    close: () => void call(connection, 'close'),
  };
}

/** A method of something whose types are not installed with the product. */
async function call(owner: unknown, method: string, ...given: readonly unknown[]): Promise<unknown> {
  const found: unknown = Reflect.get(Object(owner), method);
  if (typeof found !== 'function') throw new Error(`${EMMETT} has no ${method}`);
  return Reflect.apply(found, owner, given);
}
