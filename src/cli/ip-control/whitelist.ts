import { createHash } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { SourceWhitelistCommand } from '../../commands/ip-control/source-whitelist.ts';
import { regionLimits } from '../../domain/ip-control/region-limits.ts';
import { newestFirst, type WhitelistStatus, whitelistStatus } from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { EvidenceReference } from '../../ports/evidence.ts';
import type { WhitelistRequestView } from '../../projections/ip-control/source-whitelist-request-view.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { findCustomer } from '../lookup.ts';
import { accepted, CommandFailure, EXIT, notFound, operatorContext } from '../output.ts';

const STATUSES: readonly WhitelistStatus[] = ['pending_review', 'pending_deploy', 'active', 'rejected', 'failed'];

type ListOptions = Readonly<{ status?: string; customer?: string; json?: boolean }>;

/** `whitelist list | show | approve | reject | evidence`. */
export function addWhitelistCommands(program: Command, tools: CommandTools): void {
  const whitelist = program.command('whitelist').description('source whitelist requests of customers');
  leaf(whitelist, 'list', 'list requests that were not removed, newest first')
    .addOption(new Option('--status <status>', 'only those in this status').choices(STATUSES))
    .option('--customer <customer>', 'only those of one customer')
    .action((options: ListOptions) =>
      tools.withApplication((application) => listRequests(application, options, tools)),
    );
  leaf(whitelist, 'show <id>', 'show a request, removed ones too').action((id: string, options: { json?: boolean }) =>
    tools.withApplication((application) => showRequest(application, id, options, tools)),
  );
  leaf(whitelist, 'approve <id>', 'accept a request: it is deployed with the next commit of its regions').action(
    (id: string, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        await application.catchUp();
        const limits = regionLimits((await application.views.regions.list()).map(({ view }) => view));
        const approve = (requestId: string) =>
          ({ type: 'ApproveSourceWhitelist', data: { requestId, limits } }) as const;
        await decide(application, id, approve, options, tools);
      }),
  );
  leaf(whitelist, 'reject <id>', 'decline a request')
    .requiredOption('--reason <reason>', 'why, for the record')
    .action((id: string, options: { reason: string; json?: boolean }) =>
      tools.withApplication((application) =>
        decide(
          application,
          id,
          (requestId) => ({ type: 'RejectSourceWhitelist', data: { requestId, reason: options.reason } }),
          options,
          tools,
        ),
      ),
    );
  leaf(whitelist, 'evidence <id>', 'get the evidence of a request, of removed ones too')
    .requiredOption('--output <file>', 'where to write it; must not exist')
    .action((id: string, options: { output: string; json?: boolean }) =>
      tools.withApplication((application) => saveEvidence(application, id, options, tools)),
    );
}

async function listRequests(application: Application, options: ListOptions, tools: CommandTools): Promise<void> {
  await application.catchUp();
  const only =
    options.customer === undefined ? undefined : (await findCustomer(application, options.customer)).customerId;
  const views = (await application.views.sourceWhitelists.list()).map(({ view }) => view);
  const requests = views
    .filter(({ customerId }) => only === undefined || customerId === only)
    .flatMap((view) => newestFirst(view).map((request) => ({ ...request, customerId: view.customerId })))
    .filter((request) => options.status === undefined || whitelistStatus(request) === options.status)
    .toSorted((a, b) => (a.submittedAt < b.submittedAt ? 1 : Number(a.submittedAt === b.submittedAt) - 1));
  const rows = await Promise.all(
    requests.map(async (request) => ({
      id: request.requestId,
      customer: (await application.views.customers.get(String(request.customerId)))?.name ?? request.customerId,
      input: request.input,
      regions: await regionNames(application, request.regionIds),
      status: whitelistStatus(request),
      auto_approved: request.autoApproved,
      created_at: request.submittedAt,
    })),
  );
  outputOf(options, tools).table(
    ['id', 'customer', 'input', 'regions', 'status', 'auto_approved', 'created_at'],
    rows.map((row) => (options.json === true ? row : { ...row, regions: row.regions.join(', ') })),
  );
}

async function showRequest(
  application: Application,
  id: string,
  options: Readonly<{ json?: boolean }>,
  tools: CommandTools,
): Promise<void> {
  const found = await findRequest(application, id);
  const { whitelist } = (await application.views.sourceWhitelists.get(String(found.customerId))) ?? {};
  const request = whitelist?.requests.get(found.requestId);
  const progress = request?.review.phase === 'approved' ? request.review.progress : undefined;
  const names = await regionNames(application, found.regionIds);
  const regions = names.map((name, at) => ({ name, deployment: progress?.get(found.regionIds[at] ?? 0) ?? null }));
  const { evidence, decided, submitted, removed } = found;
  const shown = {
    id: found.requestId,
    customer: (await application.views.customers.get(String(found.customerId)))?.name ?? found.customerId,
    input: found.input,
    prefixes: found.prefixes,
    status: request === undefined ? 'removed' : whitelistStatus(request),
    regions,
    auto_approved: found.autoApproved,
    created_at: submitted.at,
    created_by: submitted.by,
    decided_at: decided?.at ?? null,
    decided_by: decided?.by ?? null,
    reason: decided?.outcome === 'rejected' ? decided.reason : null,
    removed_at: removed?.at ?? null,
    removed_by: removed?.by ?? null,
    evidence: {
      file_name: evidence.fileName,
      media_type: evidence.mediaType,
      bytes: evidence.bytes,
      sha256: evidence.sha256,
    },
  };
  const texts = {
    ...shown,
    prefixes: found.prefixes.join(', '),
    regions: regions.map(({ name, deployment }) => (deployment === null ? name : `${name} (${deployment})`)).join(', '),
    evidence: `${evidence.fileName} (${evidence.mediaType}, ${evidence.bytes} bytes, SHA-256 ${evidence.sha256})`,
  };
  const lines = Object.entries(texts).filter(([, value]) => value !== null);
  outputOf(options, tools).object(
    shown,
    lines.map(([name, value]) => `${name}: ${String(value)}`),
  );
}

async function decide(
  application: Application,
  id: string,
  commandFor: (requestId: string) => SourceWhitelistCommand,
  options: Readonly<{ json?: boolean }>,
  tools: CommandTools,
): Promise<void> {
  const { customerId, requestId } = await findRequest(application, id);
  const answer = await application.customers.handle(
    customerId,
    commandFor(requestId),
    operatorContext(application.ids),
  );
  const { state, events } = accepted(answer);
  const request = state.phase === 'registered' ? state.whitelist.requests.get(requestId) : undefined;
  const status = request === undefined ? null : whitelistStatus(request);
  outputOf(options, tools).object({ id: requestId, status }, [
    `request ${requestId}: ${status ?? 'removed'}${events.length === 0 ? ', as before' : ''}`,
  ]);
}

async function saveEvidence(
  application: Application,
  id: string,
  options: Readonly<{ output: string; json?: boolean }>,
  tools: CommandTools,
): Promise<void> {
  const { requestId, customerId, evidence } = await findRequest(application, id);
  const { sha256, mediaType, bytes } = evidence;
  const { output } = options;
  const handle = await createNew(output);
  try {
    const found = await copyEvidence(application, { customerId, sha256 }, handle);
    if (found !== sha256) {
      const problem = found === undefined ? 'missing' : 'altered';
      const message = `the evidence of request ${requestId} ${found === undefined ? 'is missing' : 'was altered'}.`;
      throw new CommandFailure(EXIT.failed, `evidence-${problem}`, message);
    }
  } catch (error) {
    await unlink(output);
    throw error;
  } finally {
    await handle.close();
  }
  outputOf(options, tools).object(
    { id: requestId, file: output, media_type: mediaType, bytes, sha256, file_name: evidence.fileName },
    [`${output}: ${mediaType}, ${bytes} bytes, SHA-256 ${sha256}`],
  );
}

/** Opens a file that must not exist, for its owner alone. */
async function createNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw isThere ? new CommandFailure(EXIT.conflict, 'file-exists', `${file} exists already.`) : error;
  }
}

/** The SHA-256 (hex) of what was copied; `undefined` when there is nothing. */
async function copyEvidence(
  application: Application,
  reference: EvidenceReference,
  target: FileHandle,
): Promise<string | undefined> {
  const pieces = await application.evidence.read(reference);
  if (pieces === undefined) return undefined;
  const hash = createHash('sha256');
  for await (const piece of pieces) {
    hash.update(piece);
    await target.writeFile(piece);
  }
  return hash.digest('hex');
}

async function findRequest(application: Application, id: string): Promise<WhitelistRequestView> {
  await application.catchUp();
  const view = await application.views.whitelistRequests.get(id.toLowerCase());
  if (view === undefined) throw notFound(`source whitelist request ${id} not found.`);
  return view;
}

function regionNames(application: Application, regionIds: readonly number[]): Promise<readonly string[]> {
  return Promise.all(
    regionIds.map(async (id) => (await application.views.regions.get(String(id)))?.name ?? String(id)),
  );
}
