import { whitelistRecord } from '../../application/ip-control/records.ts';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  approveRequest,
  type DecidedRequest,
  listRequests,
  rejectRequest,
  requestEvidence,
  type RequestEvidence,
  requestNamed,
  type ShownRequest,
  showRequest,
} from '../../application/ip-control/whitelist-review.ts';
import type { WhitelistStatus } from '../../domain/ip-control/source-whitelist-ledger.ts';
import { act, type ActOptions, type CommandTools, leaf, listing, type ListOptions, outputOf } from '../command.ts';
import { accepted, CommandFailure, EXIT, operatorContext, sinceOf } from '../output.ts';

const STATUSES: readonly WhitelistStatus[] = ['pending_review', 'pending_deploy', 'active', 'rejected', 'failed'];

type Options = Readonly<{ json?: boolean }>;
type OwnListOptions = ListOptions & Readonly<{ customer?: string }>;

/** `whitelist list | show | approve | reject | evidence`. */
export function addWhitelistCommands(program: Command, tools: CommandTools): void {
  const whitelist = program.command('whitelist').description('source whitelist requests of customers');
  addListCommand(whitelist, tools);
  leaf(whitelist, 'show <id>', 'show a request, removed ones too').action((id: string, options: Options) =>
    tools.withApplication(async (application) => {
      const { requestId } = accepted(await requestNamed(id, application));
      const request = accepted(await showRequest(requestId, application));
      outputOf(options, tools).object(whitelistRecord(request), linesOf(request));
    }),
  );
  act(whitelist, 'approve <id>', 'accept a request: it is deployed with the next commit of its regions').action(
    (id: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const { requestId } = accepted(await requestNamed(id, application));
        showDecision(accepted(await approveRequest(requestId, context, application)), options, tools);
      }),
  );
  leaf(whitelist, 'reject <id>', 'decline a request')
    .requiredOption('--reason <reason>', 'why, for the record')
    .option('--ticket <text>', 'the ticket that it is done for, for the record')
    .action((id: string, { reason, ...options }: ActOptions & Readonly<{ reason: string }>) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const { requestId } = accepted(await requestNamed(id, application));
        const rejected = accepted(await rejectRequest({ id: requestId, reason }, context, application));
        showDecision(rejected, options, tools);
      }),
    );
  leaf(whitelist, 'evidence <id>', 'get the evidence of a request, of removed ones too')
    .requiredOption('--output <file>', 'where to write it; must not exist')
    .action((id: string, { output: file, ...options }: Options & Readonly<{ output: string }>) =>
      tools.withApplication(async (application) => {
        const { requestId } = accepted(await requestNamed(id, application));
        const found = accepted(await requestEvidence(requestId, application));
        await saveEvidence(found, file);
        const { fileName, mediaType, bytes, sha256 } = found.evidence;
        const saved = { id: found.requestId, file, media_type: mediaType, bytes, sha256, file_name: fileName };
        outputOf(options, tools).object(saved, [`${file}: ${mediaType}, ${bytes} bytes, SHA-256 ${sha256}`]);
      }),
    );
}

function addListCommand(whitelist: Command, tools: CommandTools): void {
  listing(whitelist, 'list', 'list requests that were not removed, newest first', {
    states: STATUSES,
    region: 'those for one region',
    since: 'what was submitted',
  })
    .option('--customer <customer>', 'only those of one customer')
    .action(({ status, customer, region, since: sinceText, ...options }: OwnListOptions) =>
      tools.withApplication(async (application) => {
        const since = sinceOf(sinceText, application.clock.now());
        const requests = accepted(await listRequests({ status, customer, region, since }, application));
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

function linesOf(request: ShownRequest): readonly string[] {
  const { prefixes, regions, evidence } = request;
  const texts = {
    ...whitelistRecord(request),
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
