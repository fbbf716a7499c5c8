// Views that take several events at once: nobody can tell them from those that take one after the other.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { Event, RecordedEvent } from '../../../src/kernel/event.ts';
import type { Projection } from '../../../src/kernel/projection.ts';
import type { ReadModels, ViewSave } from '../../../src/ports/read-models.ts';
import { type AddressView, addressProjection } from '../../../src/projections/ip-control/address-view.ts';
import { type ViewCache, viewCacheOf } from '../../../src/projections/engine/view-cache.ts';
import { recorded } from '../../specification.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import {
  assigned,
  commitCompleted,
  commitFailed,
  commitRequested,
  disabled,
  enabled,
  released,
} from '../../commands/ip-control/customer-examples.ts';

const test = suite<{ log: EmbeddedLog }>('views in batches');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

const AT = '2026-11-27T12:00:00Z';
const OTHER_LIST = { commitSetId: 'w1', regionId: 1, list: 'SRC_WHITELIST', attempt: 1, reason: 'quiet' } as const;

const single = fc.nat(15).map((last) => `192.0.2.${last}`);
const texts = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(single) },
  fc.tuple(fc.nat(7), fc.nat(7)).map(([first, more]) => [`192.0.2.${first}-192.0.2.${first + 1 + more}`]),
  fc.uniqueArray(single, { minLength: 2, maxLength: 4 }),
  fc.tuple(fc.nat(9).map((last) => `2001:db8::${last}`)),
);
const regionId = fc.integer({ min: 1, max: 3 });

/** Anything that may stand in a log about addresses, mostly single ones. */
const event: fc.Arbitrary<CustomerEvent> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(fc.boolean(), texts, regionId)
      .map(([isDisabled, ranges, region]) => (isDisabled ? disabled : enabled)(ranges, region)),
  },
  regionId.map((region) => commitRequested({ regionId: region })),
  regionId.map((region) => commitCompleted({ regionId: region })),
  regionId.map((region) => commitFailed({ regionId: region })),
  fc.constant<CustomerEvent>({ type: 'CommitRequested', data: OTHER_LIST }),
  regionId.map((region) => assigned(region, '192.0.2.0/24', region)),
  regionId.map((region) => released(region, '192.0.2.0/24', ['192.0.2.1'], region)),
);

type Step = Readonly<{ event: CustomerEvent; customer: number; after: 'nothing' | 'get' | 'list' | 'save' | 'keep' }>;

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    event,
    customer: fc.integer({ min: 1, max: 2 }),
    after: fc.oneof(
      { weight: 8, arbitrary: fc.constant('nothing' as const) },
      fc.constantFrom('get' as const, 'list' as const, 'save' as const, 'keep' as const),
    ),
  }),
  { maxLength: 120, size: 'max' },
);

/** A view cache with a generation of its own. */
async function opened<E extends Event, V extends object>(
  projection: Projection<E, V>,
  readModels: ReadModels,
): Promise<ViewCache<V>> {
  const viewCache = viewCacheOf(projection, readModels);
  await viewCache.open(await readModels.begin(projection.name, projection.version));
  return viewCache;
}

function seen(view: AddressView | undefined): unknown {
  return view && addressProjection.stored?.encode(view);
}

function changesOf(save: ViewSave | undefined): unknown {
  return save && { position: save.position, changes: save.changes };
}

test('whoever reads or saves in between, and whenever, sees what single events make', async ({ log }) => {
  const { batch, ...oneByOne } = addressProjection;
  assert.ok(batch);
  const readModels = log.readModels();
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      const both = [await opened(addressProjection, readModels), await opened(oneByOne, readModels)] as const;
      for (const [position, { event: happened, customer, after }] of story.entries()) {
        const told: RecordedEvent = recorded(happened, AT, {
          stream: `customer-${customer}`,
          position: BigInt(position),
        });
        for (const viewCache of both) viewCache.apply(told);
        assert.equal(both[0].takeTouched(), both[1].takeTouched());
        assert.is(both[0].unsavedCount(), both[1].unsavedCount());
        if (after === 'get') {
          const [mine, theirs] = await Promise.all(both.map((viewCache) => viewCache.get(String(customer))));
          assert.equal(seen(mine), seen(theirs));
        } else if (after === 'list') {
          const [mine, theirs] = await Promise.all(both.map((viewCache) => viewCache.list()));
          assert.equal(
            mine?.map(({ view }) => seen(view)),
            theirs?.map(({ view }) => seen(view)),
          );
        } else if (after !== 'nothing') {
          assert.equal(changesOf(both[0].takeUnsaved()), changesOf(both[1].takeUnsaved()));
          for (const viewCache of both)
            if (after === 'save') viewCache.saved();
            else viewCache.unsaved();
        }
      }
      assert.equal(changesOf(both[0].takeUnsaved()), changesOf(both[1].takeUnsaved()));
    }),
    { numRuns: 200 },
  );
});

test('more events than wait at once are none too many', async ({ log }) => {
  const { batch, ...oneByOne } = addressProjection;
  assert.ok(batch);
  const readModels = log.readModels();
  const both = [await opened(addressProjection, readModels), await opened(oneByOne, readModels)];
  const one = recorded(disabled([]), AT);
  const events = Array.from({ length: 140_000 }, (_, at) => {
    const address = (at * 2_654_435_761) % 4_099;
    const change = (at * 40_503) % 7 < 4 ? disabled : enabled;
    const happened = change([`10.0.${address >> 8}.${address & 255}`]);
    return { ...one, ...happened, stream: `customer-${at % 5}`, position: BigInt(at) };
  });
  for (const viewCache of both) for (const each of events) viewCache.apply(each);
  const [mine, theirs] = both.map((viewCache) => changesOf(viewCache.takeUnsaved()));
  assert.equal(mine, theirs);
});

test('an event that can not be read is told when it comes, and what came before it stands', async ({ log }) => {
  const viewCache = await opened(addressProjection, log.readModels());
  viewCache.apply(recorded(assigned(1, '192.0.2.0/24'), AT, { position: 0n }));
  viewCache.apply(recorded(disabled(['192.0.2.1']), AT, { position: 1n }));
  assert.throws(() => viewCache.apply(recorded(disabled(['192.0.2.256']), AT, { position: 2n })), /192\.0\.2\.256/);
  assert.is(viewCache.position(), 1n);
  const view = await viewCache.get('7');
  assert.equal(view?.ledger.get(1)?.disabled.toJSON(), ['192.0.2.1']);
});

test.run();
