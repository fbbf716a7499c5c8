import { UndecodableEvent } from '../../events/codec.ts';
import { checkLink } from '../../events/hash-chain.ts';
import { type Refusal, refuse } from '../../kernel/decider.ts';
import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { EvidenceReference } from '../../ports/evidence.ts';
import {
  applyToHistory,
  contentProblem,
  type CustomerHistory,
  NO_HISTORY,
} from '../../domain/ip-control/customer-history.ts';
import { evidenceOf, sha256Of } from '../../domain/ip-control/evidence.ts';
import type { Archive } from '../application.ts';
import { openStreamClaims } from './stream-claims.ts';

/** What was checked, how many of each, and everything that is wrong, one line each. */
export type Findings = Readonly<Counts & { problems: readonly string[] }>;

export type VerifyDependencies = Pick<Archive, 'store' | 'storeAsStored' | 'flaws' | 'evidence' | 'isCustomerEvent'>;

type Counts = { events: number; streams: number; commits: number; evidence: number };
type Found = Counts & { problems: string[] };
type Show = (done: bigint, end: bigint) => void;

/**
 * Checks the store, the hash chain of every stream, what streams say of one another, the content of every commit and every file of evidence.
 * A log that can't be read to its end is a finding.
 */
export async function verify(archive: VerifyDependencies, show: Show): Promise<Findings> {
  const findings: Found = { events: 0, streams: 0, commits: 0, evidence: 0, problems: [] };
  // First: what is damaged may keep everything else from being read to its end.
  for await (const flaw of archive.flaws()) findings.problems.push(flaw);
  let end = BEGINNING;
  await toItsEnd(findings, async () => void (end = await archive.store.end()));
  if (end === BEGINNING) {
    // A wrong directory must not look like a clean audit.
    findings.problems.push('the log is empty: DATA_DIR or EVENT_STORE_URL may name another one than you mean');
    return findings;
  }
  await toItsEnd(findings, () => checkChains(archive, findings, (done) => show(done, 2n * end)));
  await toItsEnd(findings, () => checkCommits(archive, findings, (done) => show(end + done, 2n * end)));
  return findings;
}

/** A log that can't be read to its end is a finding too, and takes nothing from those before it. */
async function toItsEnd(findings: Found, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof UndecodableEvent) && findings.problems.length === 0) throw error;
    findings.problems.push(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Checks the chain of one stream: each event follows the one before it, and none was altered. Refused where there is no such stream.
 * @throws the reason of the signal, soon after it aborts
 */
export async function verifyStream(
  stream: string,
  storeAsStored: Pick<EventStore, 'read'>,
  signal: AbortSignal,
): Promise<Readonly<{ stream: string; events: number; problems: readonly string[] }> | Refusal> {
  const problems: string[] = [];
  let [events, hash] = [0, ''];
  for await (const page of storeAsStored.read(stream)) {
    signal.throwIfAborted();
    for (const event of page) {
      if (event.revision !== BigInt(events)) problems.push(`revision ${event.revision}: events are missing before it`);
      else if (!checkLink(hash, event))
        problems.push(`revision ${event.revision}: it was altered, or the one before it was`);
      hash = event.metadata.hash;
      events += 1;
    }
  }
  return events === 0 ? refuse('not-found', `stream ${stream} not found.`, 'stream') : { stream, events, problems };
}

async function checkChains(archive: VerifyDependencies, findings: Found, show: (done: bigint) => void): Promise<void> {
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
    show(page.at(-1)?.position ?? 0n);
  }
  findings.streams = ends.size;
  findings.problems.push(...(await claims.problems(new Set(ends.keys()), archive.storeAsStored)));
}

async function checkCommits(archive: VerifyDependencies, findings: Found, show: (done: bigint) => void): Promise<void> {
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
      const reference = evidenceOf(event);
      if (reference !== undefined) {
        findings.evidence += 1;
        const problem = await evidenceProblem(archive, reference);
        if (problem !== undefined) findings.problems.push(`${event.stream} revision ${event.revision}: ${problem}`);
      }
      histories.set(event.stream, applyToHistory(history, event));
    }
    show(page.at(-1)?.position ?? 0n);
  }
}

async function evidenceProblem(archive: VerifyDependencies, reference: EvidenceReference): Promise<string | undefined> {
  const pieces = await (await archive.evidence()).read(reference);
  if (pieces === undefined) return 'its evidence is missing';
  return (await sha256Of(pieces)) === reference.sha256 ? undefined : 'its evidence was altered';
}
