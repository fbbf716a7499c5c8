import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { retireWebhookSecrets as process } from '../../../src/processes/ip-control/retire-webhook-secrets.ts';
import { recorded, specifyProcess } from '../../specification.ts';

const handles = new Set<string>(process.handles);
type Watched = Parameters<typeof process.keysOf>[0];

const at = (time: string): string => `2026-11-${time}Z`;
const rotated = (secretId: string, previous?: string): CustomerEvent => ({
  type: 'WebhookSecretRotated',
  data: {
    secretId,
    ...(previous === undefined ? {} : { previous: { secretId: previous, signsForSeconds: 86_400 } }),
  },
});
const retired = (secretId: string): CustomerEvent => ({ type: 'WebhookSecretRetired', data: { secretId } });
const retirement = (secretId: string) => ({ type: 'RetireWebhookSecret', data: { customerId: 7, secretId } }) as const;

function given(...history: readonly (readonly [time: string, event: CustomerEvent])[]) {
  const told = history.map(([time, event], index): RecordedEvent =>
    recorded(event, at(time), { revision: BigInt(index) }),
  );
  return specifyProcess(process).given(...told.filter((event): event is Watched => isHandled(handles, event)));
}

test('a first secret, and one that was replaced at once, owe nothing', () => {
  given(['27T12:00:00', rotated('s1')])
    .at(at('29T12:00:00'))
    .owesNothing();
  given(['27T12:00:00', rotated('s1')], ['27T13:00:00', rotated('s2')])
    .at(at('29T12:00:00'))
    .owesNothing();
});

test('a secret that was replaced ends after a day', () => {
  const replaced = given(['27T12:00:00', rotated('s1')], ['27T13:00:00', rotated('s2', 's1')]);
  replaced.at(at('28T12:59:59')).owesNothing();
  replaced.wakesAt(at('28T13:00:00'));
  replaced.at(at('28T13:00:00')).owes(retirement('s1'));
});

test('each has its own day', () => {
  const twice = given(['27T12:00:00', rotated('s2', 's1')], ['27T18:00:00', rotated('s3', 's2')]);
  twice.at(at('28T12:00:00')).owes(retirement('s1'));
  twice.at(at('28T18:00:00')).owes(retirement('s1'), retirement('s2'));
  given(
    ['27T12:00:00', rotated('s2', 's1')],
    ['27T18:00:00', rotated('s3', 's2')],
    ['28T12:00:00', retired('s1')],
  ).wakesAt(at('28T18:00:00'));
});

test('a rotation without a day for the one before ends all of them', () => {
  given(['27T12:00:00', rotated('s2', 's1')], ['27T18:00:00', rotated('s3')])
    .at(at('27T18:00:00'))
    .owes(retirement('s1'));
});

test('what is retired is owed no more, whoever has retired it', () => {
  given(['27T12:00:00', rotated('s2', 's1')], ['27T12:00:01', retired('s1')])
    .at(at('29T12:00:00'))
    .owesNothing();
});

test('of a removed customer all secrets end, the newest a day later, when it was told that its lists are empty', () => {
  const removed = given(
    ['27T12:00:00', rotated('s1')],
    ['27T13:00:00', rotated('s2', 's1')],
    ['27T18:00:00', { type: 'CustomerRemoved', data: { customerId: 7 } }],
  );
  removed.at(at('28T13:00:00')).owes(retirement('s1'));
  removed.at(at('28T18:00:00')).owes(retirement('s1'), retirement('s2'));
  given(
    ['27T12:00:00', rotated('s1')],
    ['27T18:00:00', { type: 'CustomerRemoved', data: { customerId: 7 } }],
    ['28T18:00:00', retired('s1')],
  ).isOver();
  given(['27T18:00:00', { type: 'CustomerRemoved', data: { customerId: 7 } }]).isOver();
});

test.run();
