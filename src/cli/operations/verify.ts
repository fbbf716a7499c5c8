import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { UndecodableEvent } from '../../events/codec.ts';
import { checkLink } from '../../events/hash-chain.ts';
import { streamId } from '../../kernel/stream-name.ts';
import { BEGINNING } from '../../ports/event-store.ts';
import type { EvidenceReference } from '../../ports/evidence.ts';
import {
  applyToHistory,
  contentProblem,
  type CustomerHistory,
  NO_HISTORY,
} from '../../domain/ip-control/customer-history.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Archive } from '../../application/application.ts';
import { CommandFailure, EXIT } from '../output.ts';
import { openProgress, type Progress } from '../progress.ts';
import { openStreamClaims } from './verify-streams.ts';

type Findings = { events: number; streams: number; commits: number; evidence: number; problems: string[] };

/** `verify`. */
export function addVerifyCommand(program: Command, tools: CommandTools): void {
  leaf(
    program,
    'verify',
    "check the store, every stream's hash chain, what streams say of one another, every commit's content and every file of evidence",
  ).action((options: { json?: boolean }) =>
    tools.withArchive(async (archive) => {
      const findings = await verify(archive, () => openProgress('verify', options.json !== true));
      const { events, streams, commits, evidence, problems } = findings;
      outputOf(options, tools).object({ ok: problems.length === 0, events, streams, commits, evidence, problems }, [
        ...problems,
        `${events} events in ${streams} streams, ${commits} commits and ${evidence} files of evidence checked: ${problems.length} problems`,
      ]);
      if (problems.length > 0)
        throw new CommandFailure(EXIT.failed, 'verification-failed', `${problems.length} problems found.`);
    }),
  );
}

async function verify(archive: Archive, openBar: () => Progress): Promise<Findings> {
  const findings: Findings = { events: 0, streams: 0, commits: 0, evidence: 0, problems: [] };
  // First: what is damaged may keep everything else from being read to its end.
  for await (const flaw of archive.flaws()) findings.problems.push(flaw);
  let end = BEGINNING;
  await toItsEnd(findings, async () => void (end = await archive.store.end()));
  if (end === BEGINNING) {
    // A wrong directory must not look like a clean audit.
    findings.problems.push('the log is empty: DATA_DIR or EVENT_STORE_URL may name another one than you mean');
    return findings;
  }
  const progress = openBar();
  try {
    await toItsEnd(findings, () => checkChains(archive, findings, (done) => progress.show(done, 2n * end)));
    await toItsEnd(findings, () => checkCommits(archive, findings, (done) => progress.show(end + done, 2n * end)));
  } finally {
    progress.stop();
  }
  return findings;
}

/** A log that can't be read to its end is a finding too, and takes nothing from those before it. */
async function toItsEnd(findings: Findings, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof UndecodableEvent) && findings.problems.length === 0) throw error;
    findings.problems.push(error instanceof Error ? error.message : String(error));
  }
}

async function checkChains(archive: Archive, findings: Findings, progress: (done: bigint) => void): Promise<void> {
  const ends = new Map<string, Readonly<{ revision: bigint; hash: string }>>();
  const claims = openStreamClaims();
  for await (const page of archive.storeAsStored.readAll(BEGINNING)) {
    for (const event of page) {
      const { stream, revision, position, metadata } = event;
      const before = ends.get(stream);
      const where = `${stream} revision ${revision} (position ${position})`;
      if (revision !== (before?.revision ?? -1n) + 1n) findings.problems.push(`${where}: events are missing before it`);
      else if (!checkLink(before?.hash ?? '', event))
        findings.problems.push(`${where}: it was altered, or the one before it was`);
      ends.set(stream, { revision, hash: metadata.hash });
      claims.take(event);
      findings.events += 1;
    }
    progress(page.at(-1)?.position ?? 0n);
  }
  findings.streams = ends.size;
  findings.problems.push(...(await claims.problems(new Set(ends.keys()), archive.storeAsStored)));
}

async function evidenceProblem(archive: Archive, reference: EvidenceReference): Promise<string | undefined> {
  const pieces = await (await archive.evidence()).read(reference);
  if (pieces === undefined) return 'its evidence is missing';
  const hash = createHash('sha256');
  for await (const piece of pieces) hash.update(piece);
  return hash.digest('hex') === reference.sha256 ? undefined : 'its evidence was altered';
}

async function checkCommits(archive: Archive, findings: Findings, progress: (done: bigint) => void): Promise<void> {
  const histories = new Map<string, CustomerHistory>();
  for await (const page of archive.store.readAll(BEGINNING)) {
    for (const event of page) {
      if (!archive.isCustomerEvent(event)) continue;
      const history = histories.get(event.stream) ?? NO_HISTORY;
      if (event.type === 'CommitCompleted' || event.type === 'CommitFailed') {
        findings.commits += 1;
        const problem = contentProblem(history, event);
        if (problem !== undefined) findings.problems.push(`${event.stream} revision ${event.revision}: ${problem}`);
      }
      if (event.type === 'SourceWhitelistSubmitted') {
        findings.evidence += 1;
        const reference = { customerId: Number(streamId(event.stream)), sha256: event.data.evidence.sha256 };
        const problem = await evidenceProblem(archive, reference);
        if (problem !== undefined) findings.problems.push(`${event.stream} revision ${event.revision}: ${problem}`);
      }
      histories.set(event.stream, applyToHistory(history, event));
    }
    progress(page.at(-1)?.position ?? 0n);
  }
}
