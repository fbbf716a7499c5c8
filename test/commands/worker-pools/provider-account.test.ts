import { test } from 'uvu';
import { providerAccountDecider } from '../../../src/commands/worker-pools/provider-account.ts';
import type { ProviderAccountEvent } from '../../../src/events/worker-pools/provider-account.ts';
import { specify } from '../../specification.ts';

const { given } = specify(providerAccountDecider);

const of = {
  providerAccount: 'hcloud',
  pool: 'spot',
  worker: 'spot-001',
  run: 'a',
  createdAt: '2026-11-27T20:50:00.000+00:00',
  endedAt: '2026-11-27T20:51:00.000+00:00',
} as const;

function found(instanceId: string) {
  const instance = { instance_id: instanceId, region: 'eu-central-1' };
  return { type: 'RecordUnknownInstanceEnded', data: { ...of, instance } } as const;
}

function ended(instanceId: string): ProviderAccountEvent {
  const instance = { region: 'eu-central-1', instance_id: instanceId };
  return { type: 'UnknownInstanceEnded', data: { ...of, instance, seconds: 60 } };
}

test('what an instance that belongs to no run has cost is kept once, however often it is found', () => {
  given().when(found('i-1')).yields(ended('i-1'));
  given(ended('i-1')).when(found('i-1')).yieldsNothing();
});

test('of several instances that a provider made for one run each was paid for', () => {
  given(ended('i-1')).when(found('i-2')).yields(ended('i-2'));
  given(ended('i-1'), ended('i-2')).when(found('i-1')).yieldsNothing();
});

test.run();
