import { epochMilliseconds } from '../../../src/domain/instants.ts';
import { type Cloud, CloudFailure, type CloudFailureCode, type CloudInstance } from '../../../src/ports/clouds.ts';
import { createDummyCloud, type DummyCloud } from '../../support/worker-pools/dummy-cloud.ts';
import { type CloudAnswer, type CloudCall, cloudCall } from './messages.ts';

/** The accounts of some providers, which outlive every server. One call in five fails. */
export type PlayedProviders = Readonly<{
  /** Answers a call of a server. */
  answer: (call: unknown) => Promise<unknown>;
  /** Time has passed: what was asked earlier and was to be carried out late is carried out. */
  passTo: (at: string) => void;
  /** Instances that cost. */
  living: () => readonly CloudInstance[];
  everyInstance: () => readonly CloudInstance[];
  userDataOf: (run: string) => string;
  interrupt: (run: string) => void;
  setFaulty: (isFaulty: boolean) => void;
  /** How often each fault was played. */
  played: () => Readonly<Record<string, number>>;
  /** Does this as soon as so many more calls have come; the last one of them is carried out all the same. */
  onCall: (times: number, act: () => void) => void;
}>;

const REFUSED = ['no-capacity', 'quota-exceeded', 'rejected', 'throttled', 'not-permitted'] as const;
const REFUSED_UNTIL_EDITED = ['login-refused', 'bad-specifications'] as const;
const UNCERTAIN = ['unreachable', 'timed-out', 'outcome-unknown', 'unreadable-answer'] as const;
/** So long a call is waited for that is not answered. */
const HANG_MILLISECONDS = 120_000;
/** So long some listings do not show what was just created. */
const HIDDEN_MILLISECONDS = 240_000;
/** So long what has ended is still shown, as EC2 does. */
const SHOWN_MILLISECONDS = 3_600_000;

type Late = Readonly<{ due: number; work: () => void }>;

/** Opens accounts of these names. */
export function playProviders(names: readonly string[], random: () => number): PlayedProviders {
  let now = '1970-01-01T00:00:00.000Z';
  let isFaulty = false;
  let late: readonly Late[] = [];
  let awaited: Readonly<{ calls: number; act: () => void }> | undefined;
  const played: Record<string, number> = {};
  const userData = new Map<string, string>();
  const clouds = new Map(names.map((name) => [name, openAccount(name)]));
  const all = (look: (cloud: DummyCloud) => readonly CloudInstance[]): readonly CloudInstance[] =>
    [...clouds.values()].flatMap(({ dummy }) => look(dummy));

  return {
    answer: async (given) => {
      const call = cloudCall.parse(given);
      passTo(call.at);
      noticed();
      return answered(call);
    },
    passTo,
    living: () => all((cloud) => cloud.instances()),
    everyInstance: () => all((cloud) => cloud.everyInstance()),
    userDataOf: (run) => userData.get(run) ?? '',
    interrupt: (run) => {
      count('an instance is taken away');
      for (const { dummy } of clouds.values()) dummy.interrupt(run, 'spot capacity was reclaimed');
    },
    setFaulty: (next) => void (isFaulty = next),
    played: () => played,
    onCall: (times, act) => void (awaited = { calls: times, act }),
  };

  function noticed(): void {
    if (awaited === undefined) return;
    awaited = { ...awaited, calls: awaited.calls - 1 };
    if (awaited.calls > 0) return;
    awaited.act();
    awaited = undefined;
  }

  function openAccount(name: string): Readonly<{ dummy: DummyCloud; cloud: Cloud }> {
    const dummy = createDummyCloud({ nowText: () => now });
    const account = { name, providerType: 'hetzner', configuration: {}, credentials: { api_token: name } };
    return { dummy, cloud: dummy.openCloud(account) };
  }

  function passTo(at: string): void {
    if (epochMilliseconds(at) > epochMilliseconds(now)) now = at;
    const due = late.filter((one) => one.due <= epochMilliseconds(now));
    late = late.filter((one) => !due.includes(one));
    for (const { work } of due) work();
  }

  async function answered(call: CloudCall): Promise<CloudAnswer> {
    const chance = isFaulty ? random() : 1;
    if (chance < 0.002) return failed(pick(REFUSED_UNTIL_EDITED));
    if (chance < 0.05) return failed(call.call === 'terminate' && random() < 0.5 ? 'end-refused' : pick(REFUSED));
    if (chance < 0.06) return failed('timed-out', 'hangs, and is not carried out', HANG_MILLISECONDS);
    if (chance < 0.07) {
      const due = epochMilliseconds(now) + 20_000 + Math.floor(random() * 90_000);
      late = [...late, { due, work: () => void carryOut(call) }];
      return failed('timed-out', 'hangs, and is carried out late', HANG_MILLISECONDS);
    }
    if (chance < 0.12) return failed(pick(UNCERTAIN), 'is cut before it is carried out');
    const done = await carryOut(call);
    return chance < 0.2 ? failed(pick(UNCERTAIN), 'is cut after it was carried out') : { done };
  }

  async function carryOut(call: CloudCall): Promise<unknown> {
    const cloud = clouds.get(call.account)?.cloud;
    if (cloud === undefined) throw new CloudFailure('bad-account', 'no such account');
    const { signal } = new AbortController();
    if (call.call === 'terminate') return cloud.terminate(call.data, signal);
    if (call.call === 'list') return shown(await cloud.list(call.installation, signal));
    userData.set(call.request.run, call.request.userData[0] ?? '');
    return cloud.create(call.request, signal);
  }

  /** Some listings lag behind. */
  function shown(listed: readonly CloudInstance[]): readonly CloudInstance[] {
    const at = epochMilliseconds(now);
    const kept = listed.filter(
      ({ endedAt }) => endedAt === null || at - epochMilliseconds(endedAt) < SHOWN_MILLISECONDS,
    );
    if (!isFaulty || random() >= 0.2) return kept;
    count('a listing lags behind');
    return kept.filter(({ createdAt }) => at - epochMilliseconds(createdAt) > HIDDEN_MILLISECONDS);
  }

  function failed(failure: CloudFailureCode, how = 'is refused', afterMilliseconds = 0): CloudAnswer {
    count(`a call ${how}: ${failure}`);
    return { failed: failure, afterMilliseconds };
  }

  function pick(codes: readonly CloudFailureCode[]): CloudFailureCode {
    return codes[Math.floor(random() * codes.length)] ?? 'rejected';
  }

  function count(fault: string): void {
    played[fault] = (played[fault] ?? 0) + 1;
  }
}
