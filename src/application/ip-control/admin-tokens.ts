import { createHash } from 'node:crypto';
import { Temporal } from '@js-temporal/polyfill';
import type { CommandContext } from '../../commands/aggregate.ts';
import { type AdminScope, adminScope } from '../../events/ip-control/administrator.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { AdminTokenView } from '../../projections/ip-control/admin-token-view.ts';
import type { Application } from '../application.ts';
import { isNamedBy, severalBegin } from '../ids-by-prefix.ts';
import { notFound } from './lookups.ts';

type TokenDependencies = Pick<Application, 'administrators' | 'clock' | 'ids'>;
type TokenViews = Readonly<{ views: Pick<Application['views'], 'adminTokens'> }>;

export type NewAdminToken = Readonly<{
  account: string;
  scopes: readonly string[];
  label: string;
  /** An instant with an offset, or a duration from now; at most 365 days, and 90 where it is left out. */
  expires?: string | undefined;
}>;

/** An admin token as it is shown once, with what it may do. */
export type IssuedAdminToken = Readonly<{
  tokenId: string;
  token: string;
  scopes: readonly AdminScope[];
  until: string;
}>;

const TOKEN_BYTES = 32;
const HOURS_DEFAULT = 90 * 24;
const HOURS_MAX = 365 * 24;

/** Issues a token of an account for the administration API. Only its hash is kept, so that it is shown once. */
export async function issueAdminToken(
  { account, scopes: names, label, expires }: NewAdminToken,
  context: CommandContext,
  { administrators, clock, ids }: TokenDependencies,
): Promise<IssuedAdminToken | Refusal> {
  const scopes = scopesNamed(names);
  if (isRefusal(scopes)) return scopes;
  const until = expiryOf(expires, clock.now());
  if (typeof until !== 'string') return until;
  const tokenId = ids.uuid();
  const token = `edwa_${Buffer.from(ids.random(TOKEN_BYTES)).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  const data = { tokenId, label, sha256, scopes, until };
  const answer = await administrators.handle(account, { type: 'IssueAdminToken', data }, context);
  return isRefusal(answer) ? answer : { tokenId, token, scopes, until };
}

/** The tokens of all accounts, or of one, that were not revoked; those that have run out too. */
export async function listAdminTokens(
  account: string | undefined,
  { views, administrators, catchUp }: TokenViews & Pick<Application, 'administrators' | 'catchUp'>,
): Promise<readonly AdminTokenView[] | Refusal> {
  await catchUp();
  if (account !== undefined && !(await administrators.state(account)).state.exists) return noAccount(account);
  const tokens = (await views.adminTokens.list()).map(({ view }) => view);
  return tokens
    .filter((token) => account === undefined || token.account === account)
    .toSorted((a, b) => (`${a.account} ${a.issuedAt}` < `${b.account} ${b.issuedAt}` ? -1 : 1));
}

/** Makes an admin token worthless, by its id or the beginning of it that only it has. */
export async function revokeAdminToken(
  { id, account }: Readonly<{ id: string; account?: string | undefined }>,
  context: CommandContext,
  dependencies: TokenViews & Pick<Application, 'administrators' | 'catchUp'>,
): Promise<Readonly<{ tokenId: string; account: string }> | Refusal> {
  const tokens = await listAdminTokens(account, dependencies);
  if (isRefusal(tokens)) return tokens;
  const found = tokens.filter(({ tokenId }) => isNamedBy(tokenId, id));
  const [token, another] = found;
  if (token === undefined) return notFound(`admin token ${id} not found.`, 'token');
  if (another !== undefined) {
    const candidates = found.map(({ tokenId, account: owner, label }) => ({
      id: tokenId,
      about: label === '' ? owner : `${owner}, ${label}`,
    }));
    return refuse('ambiguous-token', severalBegin(id, 'admin tokens', candidates), 'token');
  }
  const command = { type: 'RevokeAdminToken', data: { tokenId: token.tokenId } } as const;
  const answer = await dependencies.administrators.handle(token.account, command, context);
  return isRefusal(answer) ? answer : { tokenId: token.tokenId, account: token.account };
}

function noAccount(account: string): Refusal {
  return notFound(`administrator ${account} not found.`, 'name');
}

function scopesNamed(names: readonly string[]): AdminScope[] | Refusal {
  const scopes: AdminScope[] = [];
  for (const name of new Set(names)) {
    const scope = adminScope.safeParse(name);
    if (!scope.success) return refuse('bad-scopes', `a scope is one of ${adminScope.options.join(', ')}.`, 'scopes');
    scopes.push(scope.data);
  }
  return scopes;
}

function expiryOf(expires: string | undefined, now: Temporal.Instant): string | Refusal {
  const latest = now.add({ hours: HOURS_MAX });
  const until = expires === undefined ? now.add({ hours: HOURS_DEFAULT }) : instantNamed(expires, now);
  if (until === undefined || Temporal.Instant.compare(until, now) <= 0)
    return badExpiry('it must be an instant with an offset in the future, or a duration such as P30D');
  if (Temporal.Instant.compare(until, latest) > 0) return badExpiry('it must be within 365 days');
  return until.toString({ smallestUnit: 'millisecond' }).replace('Z', '+00:00');
}

function badExpiry(because: string): Refusal {
  return refuse('bad-expiry', `when a token runs out: ${because}.`, 'expires');
}

/** Days of a duration are 24 hours each; months and years have no length of their own. */
function instantNamed(text: string, now: Temporal.Instant): Temporal.Instant | undefined {
  try {
    if (!/^P/i.test(text)) return Temporal.Instant.from(text);
    const duration = Temporal.Duration.from(text);
    return now.add({ milliseconds: Math.round(duration.total({ unit: 'millisecond' })) });
  } catch {
    return undefined;
  }
}
