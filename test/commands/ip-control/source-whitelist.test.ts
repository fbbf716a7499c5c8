import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import { replayedRequest } from '../../../src/domain/ip-control/source-whitelist-ledger.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { usedEntries } from '../../../src/domain/ip-control/source-whitelist-ledger.ts';
import { specify, stateAfter } from '../../specification.ts';
import { assigned, commitRequested, disabled, registered, requestCommit } from './customer-examples.ts';
import {
  approve,
  approved,
  reject,
  rejected,
  remove,
  removed,
  requestWhitelist,
  submissionOf,
  submit,
  submitted,
  trusted,
  whitelistCompleted,
  whitelistFailed,
  whitelisting,
  whitelistRequested,
} from './source-whitelist-examples.ts';

const { given } = specify(customerDecider);

const overlap = (entry: string, region: string): string =>
  `range overlaps an existing whitelist entry (${entry}) in your account for region ${region}.`;
const LIMIT_100 = 'source whitelist limit reached (100 entries).';

function whitelistAfter(...events: readonly CustomerEvent[]) {
  const state = stateAfter(customerDecider, ...events);
  if (state.phase === 'unregistered') throw new Error('the customer is registered');
  return state.whitelist;
}

// Submitting

test('a submission waits for its review', () => {
  given(whitelisting()).when(submit('192.31.196.7')).yields(submitted('192.31.196.7'));
});

test('a submission of a trusted account needs none', () => {
  given(trusted())
    .when(submit('192.31.196.7'))
    .yields(submitted('192.31.196.7', {}, true));
});

test('whether an account is trusted is what it was when it submitted', () => {
  const trust: CustomerEvent = { type: 'CustomerSettingsChanged', data: { changes: { trusted: true } } };
  given(whitelisting(), submitted('192.31.196.7'), trust)
    .when(submit('192.31.196.8', { requestId: 'r2' }))
    .yields(submitted('192.31.196.8', { requestId: 'r2' }, true));
  given(whitelisting(), submitted('192.31.196.7'), trust).when(approve()).yields(approved());
});

test('an account without the flag may not submit, and neither may nobody', () => {
  const message = 'source whitelist is not enabled for your account';
  given(registered({ trusted: true }))
    .when(submit('192.31.196.7'))
    .isRefused('source-whitelist-not-allowed', message);
  given().when(submit('192.31.196.7')).isRefused('customer-not-found');
});

test('what is stored is the minimal CIDRs, and the input as it was sent', () => {
  given(whitelisting())
    .when(submit('192.31.196.1-192.31.196.6'))
    .yields({
      type: 'SourceWhitelistSubmitted',
      data: {
        requestId: 'r1',
        input: '192.31.196.1-192.31.196.6',
        prefixes: ['192.31.196.1/32', '192.31.196.2/31', '192.31.196.4/31', '192.31.196.6/32'],
        regionIds: [1],
        evidence: submissionOf('192.31.196.1').evidence,
        autoApproved: false,
      },
    });
});

// Replays

const standing: readonly CustomerEvent[] = [
  whitelisting(),
  submitted('192.31.196.0/30', { regionIds: [2, 1], sha256: 'aa' }),
];

test('the same addresses, regions and evidence are a replay, however they are written', () => {
  for (const [input, regionIds] of [
    ['192.31.196.0/30', [2, 1]],
    ['192.31.196.0-192.31.196.3', [1, 2]],
  ] as const) {
    given(...standing)
      .when(submit(input, { requestId: 'r2', regionIds }))
      .yieldsNothing();
    assert.is(
      replayedRequest(whitelistAfter(...standing), submissionOf(input, { requestId: 'r2', regionIds }))?.requestId,
      'r1',
    );
  }
});

test('a replay of what was approved, deployed or failed is one too', () => {
  const whitelisted = [...standing, approved('r1', [2, 1])];
  const replay = submit('192.31.196.0/30', { requestId: 'r2', regionIds: [1, 2] });
  given(...whitelisted)
    .when(replay)
    .yieldsNothing();
  given(...whitelisted, whitelistRequested(), whitelistFailed())
    .when(replay)
    .yieldsNothing();
  given(...whitelisted, whitelistRequested(), whitelistCompleted())
    .when(replay)
    .yieldsNothing();
});

test('other evidence, regions or addresses make no replay', () => {
  const overlaps = 'source-whitelist-overlap';
  const other = { requestId: 'r2', regionIds: [2, 1] };
  given(...standing)
    .when(submit('192.31.196.0/30', { ...other, sha256: 'bb' }))
    .isRefused(overlaps);
  given(...standing)
    .when(submit('192.31.196.0/30', { ...other, regionIds: [1] }))
    .isRefused(overlaps);
  given(...standing)
    .when(submit('192.31.196.0/30', { ...other, regionIds: [1, 2, 3] }))
    .isRefused(overlaps);
  given(...standing)
    .when(submit('192.31.196.0/31', other))
    .isRefused(overlaps);
});

test('what was rejected or removed is not there any more: the same again is a new request', () => {
  const again = submit('192.31.196.0/30', { requestId: 'r2', regionIds: [2, 1] });
  const anew = submitted('192.31.196.0/30', { requestId: 'r2', regionIds: [2, 1] });
  given(...standing, rejected())
    .when(again)
    .yields(anew);
  given(...standing, removed('r1', []))
    .when(again)
    .yields(anew);
});

test('a replay counts nothing, and is one even when the limit is reached', () => {
  const full = [whitelisting({ whitelistLimit: 1 }), submitted('192.31.196.7')];
  given(...full)
    .when(submit('192.31.196.7', { requestId: 'r2' }))
    .yieldsNothing();
  assert.is(usedEntries(whitelistAfter(...full)), 1);
});

// The order of the checks: limit, prefix size, reserved space, overlap

test('the limit is named with its number', () => {
  const full = [
    whitelisting({ whitelistLimit: 2 }),
    submitted('192.31.196.7'),
    submitted('192.31.196.9', { requestId: 'r2' }),
  ];
  const message = 'source whitelist limit reached (2 entries).';
  given(...full)
    .when(submit('192.31.196.11', { requestId: 'r3' }))
    .isRefused('source-whitelist-limit-reached', message);
  given(whitelisting({ whitelistLimit: 0 }))
    .when(submit('192.31.196.7'))
    .isRefused('source-whitelist-limit-reached');
});

test('rejected and removed requests don’t count against the limit', () => {
  const one = [whitelisting({ whitelistLimit: 1 }), submitted('192.31.196.7')];
  const next = submit('192.31.196.9', { requestId: 'r2' });
  const anew = submitted('192.31.196.9', { requestId: 'r2' });
  given(...one, rejected())
    .when(next)
    .yields(anew);
  given(...one, removed('r1', []))
    .when(next)
    .yields(anew);
});

test('the default limit is a hundred', () => {
  const hundred = Array.from({ length: 100 }, (_, at) => submitted(`192.31.196.${at}`, { requestId: `r${at}` }));
  given(whitelisting(), ...hundred)
    .when(submit('192.31.196.200', { requestId: 'new' }))
    .isRefused('source-whitelist-limit-reached', LIMIT_100);
});

test('nothing is broader than a /24: a range of 256 addresses is as broad, wherever it begins', () => {
  const [code, message] = ['source-whitelist-too-broad', 'prefix too broad: the maximum allowed size is /24.'];
  given(whitelisting()).when(submit('192.31.196.0/24')).yields(submitted('192.31.196.0/24'));
  given(whitelisting()).when(submit('8.8.8.128-8.8.9.127')).yields(submitted('8.8.8.128-8.8.9.127'));
  given(whitelisting()).when(submit('8.8.8.0/23')).isRefused(code, message);
  given(whitelisting()).when(submit('8.8.8.128-8.8.9.128')).isRefused(code, message);
  given(whitelisting()).when(submit('0.0.0.0/0')).isRefused(code, message);
});

test('reserved space is named by its block', () => {
  const [code, message] = [
    'source-whitelist-reserved',
    'address space 10.0.0.0/8 is reserved and cannot be whitelisted.',
  ];
  given(whitelisting()).when(submit('10.1.2.3')).isRefused(code, message);
  given(whitelisting()).when(submit('9.255.255.255-10.0.0.0')).isRefused(code, message);
});

test('an overlap names the entry as it was submitted, and the first region in conflict as it was sent', () => {
  const entries = [
    whitelisting(),
    submitted('8.8.8.1-8.8.8.9', { regionIds: [2] }),
    submitted('8.8.8.0/24', { requestId: 'r2', regionIds: [1] }),
  ];
  for (const [regionIds, message] of [
    [[3, 2, 1], overlap('8.8.8.1-8.8.8.9', 'us-east')],
    [[3, 1, 2], overlap('8.8.8.0/24', 'eu-west')],
  ] as const) {
    given(...entries)
      .when(submit('8.8.8.9', { requestId: 'r3', regionIds, sha256: 'bb' }))
      .isRefused('source-whitelist-overlap', message);
  }
});

test('a request that waits for its review is in the way too; a rejected or removed one, another region and a neighbour are not', () => {
  const waiting = [whitelisting(), submitted('8.8.8.0/30')];
  const next = submit('8.8.8.3-8.8.8.4', { requestId: 'r2' });
  const anew = submitted('8.8.8.3-8.8.8.4', { requestId: 'r2' });
  given(...waiting)
    .when(next)
    .isRefused('source-whitelist-overlap');
  given(...waiting, rejected())
    .when(next)
    .yields(anew);
  given(...waiting, removed('r1', []))
    .when(next)
    .yields(anew);
  const elsewhere = { requestId: 'r2', regionIds: [2] };
  given(...waiting)
    .when(submit('8.8.8.3-8.8.8.4', elsewhere))
    .yields(submitted('8.8.8.3-8.8.8.4', elsewhere));
  given(...waiting)
    .when(submit('8.8.8.4/30', { requestId: 'r2' }))
    .yields(submitted('8.8.8.4/30', { requestId: 'r2' }));
});

test('of several reasons the first in order is given', () => {
  const entry = submitted('8.8.8.1');
  const full = [whitelisting({ whitelistLimit: 1 }), entry];
  const [broad, reserved, overlapping] = ['8.0.0.0/8', '10.0.0.1', '8.8.8.0/24'];
  const next = { requestId: 'r2' };
  for (const input of [broad, reserved, overlapping])
    given(...full)
      .when(submit(input, next))
      .isRefused('source-whitelist-limit-reached');
  given(whitelisting(), entry).when(submit(broad, next)).isRefused('source-whitelist-too-broad');
  given(whitelisting(), entry).when(submit('10.0.0.0/8', next)).isRefused('source-whitelist-too-broad');
  given(whitelisting(), entry).when(submit(overlapping, next)).isRefused('source-whitelist-overlap');
  given(registered({ whitelistLimit: 0 }))
    .when(submit(broad))
    .isRefused('source-whitelist-not-allowed');
});

// Reviewing

const inReview = [whitelisting(), submitted('8.8.8.1', { regionIds: [1, 2] })] as const;

test('an approval names the regions whose lists change', () => {
  given(...inReview)
    .when(approve())
    .yields(approved('r1', [1, 2]));
});

test('approving again says nothing new; what needs no review is approved already', () => {
  given(...inReview, approved('r1', [1, 2]))
    .when(approve())
    .yieldsNothing();
  given(trusted(), submitted('8.8.8.1', {}, true))
    .when(approve())
    .yieldsNothing();
});

test('a rejection has a reason', () => {
  given(...inReview)
    .when(reject('r1', 'no contract'))
    .yields(rejected('r1', 'no contract'));
  const message = 'a reason has 1 to 500 characters, none of them a control character.';
  for (const reason of ['', '   ', 'two\nlines', 'x'.repeat(501), '\u0000']) {
    given(...inReview)
      .when(reject('r1', reason))
      .isRefused('bad-reason', message);
  }
  given(...inReview)
    .when(reject('r1', '理由'))
    .yields(rejected('r1', '理由'));
});

test('what was decided stays decided', () => {
  given(...inReview, rejected())
    .when(reject('r1', 'once more'))
    .yieldsNothing();
  given(...inReview, rejected())
    .when(approve())
    .isRefused('source-whitelist-decided');
  given(...inReview, approved('r1', [1, 2]))
    .when(reject())
    .isRefused('source-whitelist-decided');
  given(trusted(), submitted('8.8.8.1', {}, true))
    .when(reject())
    .isRefused('source-whitelist-decided');
});

test('what is not there can’t be decided about', () => {
  const message = 'source whitelist request not found.';
  for (const command of [approve('r9'), reject('r9')])
    given(...inReview)
      .when(command)
      .isRefused('source-whitelist-not-found', message);
  for (const command of [approve(), reject()])
    given(...inReview, removed('r1', []))
      .when(command)
      .isRefused('source-whitelist-not-found', message);
});

// Removing

test('removing what was approved takes it off the lists of all of its regions', () => {
  given(...inReview, approved('r1', [1, 2]))
    .when(remove())
    .yields(removed('r1', [1, 2]));
  given(trusted(), submitted('8.8.8.1', {}, true))
    .when(remove())
    .yields(removed());
});

test('removing what was not approved changes no list', () => {
  given(...inReview)
    .when(remove())
    .yields(removed('r1', []));
  given(...inReview, rejected())
    .when(remove())
    .yields(removed('r1', []));
});

test('removing again, and what never was, is not found', () => {
  const message = 'source whitelist request not found.';
  given(...inReview, removed('r1', []))
    .when(remove())
    .isRefused('source-whitelist-not-found', message);
  given(whitelisting()).when(remove()).isRefused('source-whitelist-not-found', message);
});

test('an account that lost the flag may not remove; an administrator can still decide', () => {
  const lost: CustomerEvent = { type: 'CustomerSettingsChanged', data: { changes: { allowSourceWhitelist: false } } };
  given(...inReview, lost)
    .when(remove())
    .isRefused('source-whitelist-not-allowed');
  given(...inReview, lost)
    .when(approve())
    .yields(approved('r1', [1, 2]));
});

// Commits

test('a commit is due where an approved request came or went, and nowhere else', () => {
  given(...inReview)
    .when(requestWhitelist())
    .yieldsNothing();
  const live = [...inReview, approved('r1', [1, 2])];
  given(...live)
    .when(requestWhitelist('w1', 1))
    .yields(whitelistRequested());
  given(...live)
    .when(requestWhitelist('w1', 2))
    .yields(whitelistRequested({ regionId: 2 }));
  given(...live)
    .when(requestWhitelist('w1', 3))
    .yieldsNothing();
  const deployed = [...live, whitelistRequested(), whitelistCompleted()];
  given(...deployed)
    .when(requestWhitelist('w2', 1))
    .yieldsNothing();
  given(...deployed, removed('r1', [1, 2]))
    .when(requestWhitelist('w2', 1))
    .yields(whitelistRequested({ commitSetId: 'w2' }));
});

test('the two lists of a region have commits of their own', () => {
  const both = [trusted(), assigned(1, '198.51.100.0/24'), disabled(['198.51.100.1']), submitted('8.8.8.1', {}, true)];
  given(...both, whitelistRequested())
    .when(requestCommit('c1'))
    .yields(commitRequested());
  given(...both, commitRequested())
    .when(requestWhitelist('w1'))
    .yields(whitelistRequested());
  given(...both, whitelistRequested(), whitelistFailed(), commitRequested())
    .when(requestWhitelist('w2'))
    .yields(whitelistRequested({ attempt: 2 }));
  given(trusted(), submitted('8.8.8.1', {}, true))
    .when(requestCommit('c1'))
    .yieldsNothing();
  given(trusted(), assigned(1, '198.51.100.0/24'), disabled(['198.51.100.1']))
    .when(requestWhitelist('w1'))
    .yieldsNothing();
});

test.run();
