import type { JSX } from 'preact';
import { render } from 'preact-render-to-string';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { topicsOf } from '../../../src/http/admin/topics.ts';
import { overviewPage } from '../../../src/http/admin/pages/ip-control/overview-page.tsx';
import { reviewPage } from '../../../src/http/admin/pages/ip-control/review-page.tsx';
import type { Event } from '../../../src/kernel/event.ts';
import {
  approved,
  evidence,
  rejected,
  removed,
  submitted,
  whitelistCompleted,
  whitelistFailed,
  whitelistRequested,
} from '../../commands/ip-control/source-whitelist-examples.ts';
import { commitFailed, disabled } from '../../commands/ip-control/customer-examples.ts';
import { recordedInOrder } from '../../specification.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const now = createManualClock().now();
const AT = '2026-11-27T20:50:00.000+00:00';

/** What a live part of a page follows, as browsers read it. */
function followedBy(part: string, body: JSX.Element): ReadonlySet<string> {
  const [, attributes = ''] = new RegExp(`<div id="${part}"([^>]*)>`).exec(render(body)) ?? [];
  const [, topics = ''] = / data-live="([^"]*)"/.exec(attributes) ?? [];
  const [, triggers = ''] = / hx-trigger="([^"]*)"/.exec(attributes) ?? [];
  const followed = topics.split(' ').filter((topic) => topic !== '');
  assert.is(triggers, followed.map((topic) => `live:${topic} from:body`).join(', '), 'htmx hears the same');
  return new Set(followed);
}

function rings(followed: ReadonlySet<string>, event: Event, stream: string): void {
  const [recorded] = recordedInOrder([event], AT, 0, stream);
  assert.ok(recorded !== undefined && topicsOf(recorded).some((topic) => followed.has(topic)), event.type);
}

const DRIFT = {
  type: 'DriftDetected',
  data: { router: 'edge1', list: 'ACME-BLACKHOLE', missing: 1, extra: 0, held: { prefixes: 0, sha256: 'a' } },
} as const;

test('the figures of the overview follow all that they count', () => {
  const overview = {
    onItsWay: [],
    waiting: 0,
    failing: 0,
    outOfStep: [],
    drifted: 0,
    toReview: [],
    customers: 0,
    webhooks: { owed: 0, failing: 0, worst: undefined },
  };
  const tiles = followedBy('tiles', overviewPage({ overview, events: [], now, mayRun: false }).body);
  for (const event of [
    disabled(['192.0.2.7']),
    commitFailed(),
    submitted('192.31.196.7'),
    approved(),
    rejected(),
    removed(),
  ])
    rings(tiles, event, 'customer-1');
  rings(tiles, DRIFT, 'region-1');
  const failed = { commitSetId: 'c1', customerId: 1, regionId: 1, status: 'success', attempt: 1, because: 'HTTP 500' };
  rings(tiles, { type: 'WebhookAttemptFailed', data: failed }, 'webhookDelivery-c1');
});

test('how far the routers are with a request is followed where it is shown', () => {
  const request = {
    requestId: 'r1',
    customerId: 1,
    input: '192.31.196.7',
    prefixes: ['192.31.196.7/32'],
    regionIds: [1],
    evidence: evidence(),
    autoApproved: false,
    submitted: { at: AT, by: 'token:t1' },
    decided: null,
    removed: null,
  };
  const row = { request, stage: 'approved', customer: 'acme', regions: ['eu-west'], addresses: 1n } as const;
  const shown = { ...request, customer: 'acme', status: 'pending_deploy', regions: [] } as const;
  const related = { entries: undefined, ofOthers: [], ofSame: [], previous: undefined, next: undefined };
  const page = reviewPage({
    review: { row, shown, ...related },
    now,
    mayDecide: true,
    maySeeEvidence: false,
    lookupUrl: undefined,
    reason: '',
    errors: {},
  });
  const standing = followedBy('standing', page.body);
  for (const event of [
    approved(),
    rejected(),
    removed(),
    whitelistRequested(),
    whitelistCompleted(),
    whitelistFailed(),
  ])
    rings(standing, event, 'customer-1');
});

test('when a token was used is told on the page of its customer', () => {
  const used = { tokenId: 't1', customerId: 1, sha256: 'a', hour: '2026-11-27T20:00:00.000+00:00' };
  rings(new Set(['customer:1']), { type: 'ApiTokenUsed', data: used }, 'apiToken-t1');
});

test('a region that is gone, whose name alone is released, leaves the list of regions', () => {
  const released = { regionId: 1, name: 'eu-west' };
  for (const topic of ['routers', 'region:1'])
    rings(new Set([topic]), { type: 'RegionNameReleased', data: released }, 'directory-all');
});

test.run();
