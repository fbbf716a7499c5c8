import { z } from 'zod';
import type { Application } from '../../../../application/application.ts';
import { listAssets } from '../../../../application/worker-pools/assets.ts';
import { deletePool, editPool, ensurePool, showPool } from '../../../../application/worker-pools/pools.ts';
import { listWorkers, terminateWorker, type WorkerNow } from '../../../../application/worker-pools/workers.ts';
import { checkPoolName, documentErrors, givenPool } from '../../../../domain/worker-pools/documents.ts';
import type { PoolChanges } from '../../../../events/worker-pools/pool-record.ts';
import { isRefusal, type Refusal } from '../../../../kernel/decider.ts';
import type { WorkerPoolView } from '../../../../projections/worker-pools/worker-pool-view.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { deletePoolPage, endLaterPage, endWorkerPage, newPoolPage, poolEditPage } from './pool-change-pages.tsx';
import { addressOf, PATH } from './pool-parts.tsx';
import { changedSince, sumsOfFields } from '../parts/seen-fields.ts';

export type PoolChangesDependencies = Pick<
  Application,
  'workerPools' | 'scopes' | 'workers' | 'assets' | 'clock' | 'catchUp' | 'cloudDrivers'
> &
  Readonly<{
    views: Pick<Application['views'], 'workerPools' | 'poolUsage' | 'workers' | 'assets'>;
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
  }>;

/** Where a pool's page is. */
export const poolOf = ({ record }: WorkerPoolView): string => addressOf(record.name);

export const NO_POOL = notFoundPage('There is no such worker pool.');

/** Makes pages of one pool; a pool that is not there is told as such. */
export function onePool(
  application: Pick<PoolChangesDependencies, 'catchUp'> & Pick<PoolChangesDependencies, 'views'>,
) {
  return (
    method: PageRoute['method'],
    path: string,
    scope: PageRoute['scope'],
    work: (pool: WorkerPoolView, ask: PageAsk) => PageAnswer | Promise<PageAnswer>,
  ): PageRoute => ({
    method,
    path: `/worker-pools/{pool}${path}`,
    scope,
    handle: async (ask) => {
      const pool = await showPool(ask.params['pool'] ?? '', application);
      return isRefusal(pool) ? NO_POOL : work(pool, ask);
    },
  });
}

/** Pools are created, edited and deleted, and their workers ended. */
export function poolChangePages(application: PoolChangesDependencies): readonly PageRoute[] {
  const one = onePool(application);
  return [
    {
      method: 'GET',
      path: '/new-worker-pool',
      scope: 'pools:write',
      handle: () => askForPool({ name: '', document: '', errors: {} }, application),
    },
    {
      method: 'POST',
      path: '/new-worker-pool',
      scope: 'pools:write',
      handle: (ask) => create(ask, application),
    },
    one('GET', '/edit', 'pools:write', ({ record }) => {
      const document = JSON.stringify(record, undefined, 2);
      return { page: poolEditPage({ name: record.name, document, seen: sumsOfFields(record), errors: {} }) };
    }),
    one('POST', '/edit', 'pools:write', (pool, ask) => edit(pool, ask, application)),
    one('GET', '/delete', 'pools:write', (pool) => ({ page: deletePoolPage(pool) })),
    one('POST', '/delete', 'pools:write', (pool, ask) => remove(pool, ask, application)),
    one('GET', '/workers/{worker}/terminate', 'pools:operate', async (pool, { params }) => {
      const found = await workerOf(pool, params, application);
      return found === undefined ? NO_WORKER : { page: endLaterPage({ pool: pool.record.name, view: found.view }) };
    }),
    one('POST', '/workers/{worker}/terminate', 'pools:operate', (pool, ask) =>
      terminate(pool, ask, false, application),
    ),
    one('GET', '/workers/{worker}/end', 'pools:operate', async (pool, { params }) => {
      const found = await workerOf(pool, params, application);
      return found === undefined ? NO_WORKER : { page: endWorkerPage({ pool: pool.record.name, view: found.view }) };
    }),
    one('POST', '/workers/{worker}/end', 'pools:operate', (pool, ask) => terminate(pool, ask, true, application)),
  ];
}

/** What a new pool begins with: the fields that have no default. */
function beginning(account: string, providerType: string): string {
  const fields = {
    provider_account: account,
    enabled: false,
    architectures: ['amd64'],
    specifications: { provider_type: providerType },
    limits: { max_active_instances: 1 },
  };
  return JSON.stringify(fields, undefined, 2);
}

async function askForPool(
  { name, document, errors }: Readonly<{ name: string; document: string; errors: FormErrors }>,
  application: PoolChangesDependencies,
): Promise<PageAnswer> {
  const accounts = (await listAssets(application)).filter(({ category }) => category === 'cloud-provider-account');
  const begun = document === '' ? beginning(accounts[0]?.name ?? '', accounts[0]?.providerType ?? 'hetzner') : document;
  return { page: newPoolPage({ name, document: begun, accounts: accounts.map((account) => account.name), errors }) };
}

async function create({ form, context }: PageAsk, application: PoolChangesDependencies): Promise<PageAnswer> {
  const name = fieldOf(form, 'name').trim();
  const document = fieldOf(form, 'document');
  const again = (errors: FormErrors): Promise<PageAnswer> => askForPool({ name, document, errors }, application);
  const checkedName = checkPoolName(name);
  if (!checkedName.ok) return again({ name: checkedName.problems.map(({ message }) => message).join(' ') });
  if (!isRefusal(await showPool(name, application))) return again({ name: 'There is a pool of this name already.' });
  const given = poolGiven(name, document, 'whole', application);
  if (given.wrong !== undefined) return again(given.wrong);
  const made = await ensurePool(name, given.fields, { dryRun: false }, context, application);
  if (isRefusal(made)) return again({ [made.field ?? '']: made.because });
  await application.shown();
  const text = [`${name} is created.`, ...made.notes.map(sentence)].join(' ');
  return { goTo: addressOf(name), message: { kind: 'ok', text } };
}

const DOCUMENT = z.record(z.string(), z.unknown());

type Given = Readonly<{ fields: PoolChanges; wrong?: undefined }> | Readonly<{ wrong: FormErrors }>;

/** What a document says of the pool otherwise than it was seen, or what is wrong with it, by field. */
function poolGiven(
  pool: string,
  document: string,
  how: 'whole' | 'changes',
  { cloudDrivers }: Pick<PoolChangesDependencies, 'cloudDrivers'>,
  seen = '',
): Given {
  const parsed = DOCUMENT.safeParse(jsonOf(document));
  if (!parsed.success) return { wrong: { document: 'must be a JSON object.' } };
  const { name: given = pool, ...fields } = parsed.data;
  if (given !== pool)
    return { wrong: { name: how === 'whole' ? 'differs from the document.' : 'can not be changed.' } };
  const checked = givenPool(Object.fromEntries(Object.entries(fields).filter(changedSince(seen))), how, cloudDrivers);
  if (checked.ok) return { fields: checked.value };
  const errors = Object.entries(documentErrors(checked.problems));
  return { wrong: Object.fromEntries(errors.map(([field, messages]) => [field, messages.join(' ')])) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function edit(
  pool: WorkerPoolView,
  { form, context }: PageAsk,
  application: PoolChangesDependencies,
): Promise<PageAnswer> {
  const { name } = pool.record;
  const [document, seen] = [fieldOf(form, 'document'), fieldOf(form, 'seen')];
  const again = (errors: FormErrors): PageAnswer => ({ page: poolEditPage({ name, document, seen, errors }) });
  const given = poolGiven(name, document, 'changes', application, seen);
  if (given.wrong !== undefined) return again(given.wrong);
  const edited = await editPool(name, given.fields, { dryRun: false }, context, application);
  if (isRefusal(edited)) return again({ [edited.field ?? 'document']: edited.because });
  await application.shown();
  const done = edited.differences.length === 0 ? 'Nothing was changed.' : `${name} is saved.`;
  const text = [done, ...edited.notes.map(sentence)].join(' ');
  return { goTo: addressOf(name), message: { kind: 'ok', text } };
}

async function remove(
  { record: { name } }: WorkerPoolView,
  { form, context }: PageAsk,
  application: PoolChangesDependencies,
): Promise<PageAnswer> {
  const deleted = await deletePool(name, { force: fieldOf(form, 'force') === 'true' }, context, application);
  if (isRefusal(deleted)) return notDone(deleted);
  await application.shown();
  const { ending } = deleted;
  const text = ending.length === 0 ? `${name} is deleted.` : `${name} is deleted. Being ended: ${ending.join(', ')}.`;
  return { goTo: PATH, message: { kind: 'ok', text } };
}

const NO_WORKER = notFoundPage('There is no such worker in this pool.');

async function workerOf(
  { record }: WorkerPoolView,
  params: PageAsk['params'],
  application: PoolChangesDependencies,
): Promise<WorkerNow | undefined> {
  const workers = await listWorkers({ pool: record.name }, application);
  return workers.find(({ view }) => view.worker === params['worker']);
}

async function terminate(
  pool: WorkerPoolView,
  { params, context }: PageAsk,
  forced: boolean,
  application: PoolChangesDependencies,
): Promise<PageAnswer> {
  const found = await workerOf(pool, params, application);
  if (found === undefined) return NO_WORKER;
  const { worker } = found.view;
  const ended = await terminateWorker(worker, { forced }, context, application);
  if (isRefusal(ended)) return notDone(ended);
  await application.shown();
  const { changed, waitsForTask } = ended;
  const when = waitsForTask === null ? 'now' : `once its task ${waitsForTask} is over`;
  const text = changed ? `${worker} ends ${when}.` : `${worker} was ending already.`;
  return { goTo: poolOf(pool), message: { kind: 'ok', text } };
}

/** What the rules refused, on a page of its own. */
export function notDone({ because }: Refusal): PageAnswer {
  return { problem: { status: 409, title: 'Not done', because: sentence(because) } };
}

/** What use cases say begins small and may end without a point. */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
