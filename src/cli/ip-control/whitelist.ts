import { type FileHandle, open, unlink } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import {
  approveRequest,
  type DecidedRequest,
  listRequests,
  rejectRequest,
  requestEvidence,
  type RequestEvidence,
  type ShownRequest,
  showRequest,
} from '../../application/ip-control/whitelist-review.ts';
import type { WhitelistStatus } from '../../domain/ip-control/source-whitelist-ledger.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, CommandFailure, EXIT, operatorContext } from '../output.ts';

const STATUSES: readonly WhitelistStatus[] = ['pending_review', 'pending_deploy', 'active', 'rejected', 'failed'];

type Options = Readonly<{ json?: boolean }>;
type ListOptions = Options & Readonly<{ status?: string; customer?: string }>;

/** `whitelist list | show | approve | reject | evidence`. */
export function addWhitelistCommands(program: Command, tools: CommandTools): void {
  const whitelist = program.command('whitelist').description('source whitelist requests of customers');
  addListCommand(whitelist, tools);
  leaf(whitelist, 'show <id>', 'show a request, removed ones too').action((id: string, options: Options) =>
    tools.withApplication(async (application) => {
      const request = accepted(await showRequest(id, application));
      outputOf(options, tools).object(objectOf(request), linesOf(request));
    }),
  );
  leaf(whitelist, 'approve <id>', 'accept a request: it is deployed with the next commit of its regions').action(
    (id: string, options: Options) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids);
        showDecision(accepted(await approveRequest(id, context, application)), options, tools);
      }),
  );
  leaf(whitelist, 'reject <id>', 'decline a request')
    .requiredOption('--reason <reason>', 'why, for the record')
    .action((id: string, { reason, ...options }: Options & Readonly<{ reason: string }>) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids);
        showDecision(accepted(await rejectRequest({ id, reason }, context, application)), options, tools);
      }),
    );
  leaf(whitelist, 'evidence <id>', 'get the evidence of a request, of removed ones too')
    .requiredOption('--output <file>', 'where to write it; must not exist')
    .action((id: string, { output: file, ...options }: Options & Readonly<{ output: string }>) =>
      tools.withApplication(async (application) => {
        const found = accepted(await requestEvidence(id, application));
        await saveEvidence(found, file);
        const { fileName, mediaType, bytes, sha256 } = found.evidence;
        const saved = { id: found.requestId, file, media_type: mediaType, bytes, sha256, file_name: fileName };
        outputOf(options, tools).object(saved, [`${file}: ${mediaType}, ${bytes} bytes, SHA-256 ${sha256}`]);
      }),
    );
}

function addListCommand(whitelist: Command, tools: CommandTools): void {
  leaf(whitelist, 'list', 'list requests that were not removed, newest first')
    .addOption(new Option('--status <status>', 'only those in this status').choices(STATUSES))
    .option('--customer <customer>', 'only those of one customer')
    .action(({ status, customer, ...options }: ListOptions) =>
      tools.withApplication(async (application) => {
        const requests = accepted(await listRequests({ status, customer }, application));
        outputOf(options, tools).table(
          ['id', 'customer', 'input', 'regions', 'status', 'auto_approved', 'created_at'],
          requests.map((request) => ({
            id: request.requestId,
            customer: request.customer,
            input: request.input,
            regions: options.json === true ? request.regions : request.regions.join(', '),
            status: request.status,
            auto_approved: request.autoApproved,
            created_at: request.submittedAt,
          })),
        );
      }),
    );
}

function objectOf(request: ShownRequest) {
  const { evidence, decided, submitted, removed } = request;
  return {
    id: request.requestId,
    customer: request.customer,
    input: request.input,
    prefixes: request.prefixes,
    status: request.status ?? 'removed',
    regions: request.regions,
    auto_approved: request.autoApproved,
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
}

function linesOf(request: ShownRequest): readonly string[] {
  const { prefixes, regions, evidence } = request;
  const texts = {
    ...objectOf(request),
    prefixes: prefixes.join(', '),
    regions: regions.map(({ name, deployment }) => (deployment === null ? name : `${name} (${deployment})`)).join(', '),
    evidence: `${evidence.fileName} (${evidence.mediaType}, ${evidence.bytes} bytes, SHA-256 ${evidence.sha256})`,
  };
  return Object.entries(texts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${String(value)}`);
}

function showDecision({ requestId, status, isNew }: DecidedRequest, options: Options, tools: CommandTools): void {
  outputOf(options, tools).object({ id: requestId, status }, [
    `request ${requestId}: ${status ?? 'removed'}${isNew ? '' : ', as before'}`,
  ]);
}

/** Nothing is left of a file that did not become what it should. */
async function saveEvidence({ copy }: RequestEvidence, file: string): Promise<void> {
  const handle = await createNew(file);
  try {
    const refusal = await copy((piece) => handle.writeFile(piece));
    if (refusal !== undefined) accepted(refusal);
  } catch (error) {
    await unlink(file);
    throw error;
  } finally {
    await handle.close();
  }
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
