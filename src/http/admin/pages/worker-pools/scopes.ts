import type { Application } from '../../../../application/application.ts';
import { scopeHours } from '../../../../application/worker-pools/pool-usage.ts';
import { editScopeWorkerPool, listScopes, showScope } from '../../../../application/worker-pools/scopes.ts';
import { checkScopeLimits } from '../../../../domain/worker-pools/documents.ts';
import { monthOf } from '../../../../domain/worker-pools/months.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import type { ScopeView } from '../../../../projections/worker-pools/scope-view.ts';
import { mayDo } from '../../access.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { listQueryOf } from '../parts/list.tsx';
import { type ScopeRow, scopeListPage, scopePage, termsPage, type TermsValues } from './scope-pages.tsx';

export type ScopePagesDependencies = Pick<Application, 'scopes' | 'clock' | 'catchUp'> &
  Readonly<{
    views: Pick<Application['views'], 'scopes' | 'scopeUsage'>;
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
  }>;

const PRIORITY_MAX = 1_000_000;

/** Scopes: which pools they use, and on which terms. */
export function scopePages(application: ScopePagesDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/scopes',
      scope: 'read',
      handle: async ({ query }) => {
        const scopes = await listScopes(application);
        const rows = await Promise.all(scopes.map((scope) => rowOf(scope, application)));
        return { page: scopeListPage({ rows, query: listQueryOf(query, '') }) };
      },
    },
    {
      method: 'GET',
      path: '/scopes/{scope}',
      scope: 'read',
      handle: async ({ params, principal }) => {
        const scope = await showScope(params['scope'] ?? '', application);
        if (isRefusal(scope)) return NO_SCOPE;
        const row = await rowOf(scope, application);
        const mayWrite = mayDo(principal, 'pools:write');
        return { page: scopePage({ row, mayWrite, now: application.clock.now() }) };
      },
    },
    {
      method: 'GET',
      path: '/scopes/{scope}/worker-pools/{pool}',
      scope: 'pools:write',
      handle: (ask) =>
        withTerms(ask, application, async (scope, pool, { priority, limits }) => {
          const values = {
            priority: String(priority),
            target: String(limits.target_max_seconds_per_month ?? ''),
            latency: String(limits.target_latency_seconds ?? ''),
          };
          return { page: termsPage({ scope, pool, values, errors: {} }) };
        }),
    },
    {
      method: 'POST',
      path: '/scopes/{scope}/worker-pools/{pool}',
      scope: 'pools:write',
      handle: (ask) => withTerms(ask, application, (scope, pool) => save(scope, pool, ask, application)),
    },
  ];
}

const NO_SCOPE = notFoundPage('There is no such scope.');

async function rowOf(scope: ScopeView, application: ScopePagesDependencies): Promise<ScopeRow> {
  const month = monthOf(application.clock.now().epochMilliseconds);
  return { scope, hours: await scopeHours(scope, month, application) };
}

async function withTerms(
  { params }: PageAsk,
  application: ScopePagesDependencies,
  work: (scope: string, pool: string, terms: ScopeView['pools'][string]) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const { scope = '', pool = '' } = params;
  const view = await showScope(scope, application);
  if (isRefusal(view)) return NO_SCOPE;
  const terms = Object.hasOwn(view.pools, pool) ? view.pools[pool] : undefined;
  return terms === undefined ? notFoundPage('This scope does not use such a pool.') : work(scope, pool, terms);
}

async function save(
  scope: string,
  pool: string,
  { form, context }: PageAsk,
  application: ScopePagesDependencies,
): Promise<PageAnswer> {
  const text = (name: string): string => fieldOf(form, name).trim();
  const values: TermsValues = { priority: text('priority'), target: text('target'), latency: text('latency') };
  const again = (errors: FormErrors): PageAnswer => ({ page: termsPage({ scope, pool, values, errors }) });
  const priority = /^-?\d{1,7}$/.test(values.priority) ? Number(values.priority) : Number.NaN;
  const errors: Record<string, string> = {};
  if (!(Math.abs(priority) <= PRIORITY_MAX))
    errors['priority'] = `It must be a whole number from -${PRIORITY_MAX} to ${PRIORITY_MAX}.`;
  for (const name of ['target', 'latency'] as const)
    if (!/^\d{0,12}$/.test(values[name])) errors[name] = 'It must be a whole number, or empty.';
  if (Object.keys(errors).length > 0) return again(errors);
  const limits = checkScopeLimits({
    target_max_seconds_per_month: numberOrNone(values.target),
    target_latency_seconds: numberOrNone(values.latency),
  });
  if (!limits.ok) return again({ '': limits.problems.map(({ message }) => message).join(' ') });
  const terms = { priority, limits: limits.value };
  const edited = await editScopeWorkerPool({ scope, pool }, terms, context, application);
  if (isRefusal(edited)) return again({ '': edited.because });
  await application.shown();
  const done = edited.changed ? 'The terms are saved.' : 'Nothing was changed.';
  return { goTo: `/admin/scopes/${encodeURIComponent(scope)}`, message: { kind: 'ok', text: done } };
}

function numberOrNone(text: string): number | null {
  return text === '' ? null : Number(text);
}
