import { isAddressProblem } from '../../kernel/addresses/address-problem.ts';
import { parseRangeText, parseRangeTexts, rangeTexts } from '../../kernel/addresses/range-text.ts';
import { RangeSet } from '../../kernel/addresses/range-set.ts';
import { invariant } from '../../kernel/invariant.ts';
import { decodeWaiting, encodeWaiting, type WaitingJson } from './layers.ts';
import type { Progress, RegionWhitelist, SourceWhitelist, WhitelistRequest } from './source-whitelist-ledger.ts';

type ReviewJson =
  | Readonly<{ phase: 'open' }>
  | Readonly<{ phase: 'approved'; progress: readonly (readonly [regionId: number, progress: Progress])[] }>
  | Readonly<{ phase: 'rejected'; reason: string }>;

type RequestJson = Omit<WhitelistRequest, 'range' | 'review'> & Readonly<{ range: string; review: ReviewJson }>;

type RegionJson = Readonly<{
  regionId: number;
  live: readonly string[];
  touched: readonly string[];
}> &
  WaitingJson;

/** A customer's whitelist as JSON. */
export type WhitelistJson = Readonly<{ requests: readonly RequestJson[]; regions: readonly RegionJson[] }>;

/** A customer's whitelist as JSON. */
export function encodeWhitelist({ requests, regions }: SourceWhitelist): WhitelistJson {
  return {
    requests: [...requests.values()].map(encodeRequest),
    regions: [...regions].map(([regionId, { live, touched, layers, inDeployment }]) => ({
      regionId,
      live: rangeTexts(live),
      touched: rangeTexts(touched),
      ...encodeWaiting(layers, inDeployment),
    })),
  };
}

/** The whitelist that was encoded. */
export function decodeWhitelist({ requests, regions }: WhitelistJson): SourceWhitelist {
  return {
    requests: new Map(requests.map((request) => [request.requestId, decodeRequest(request)])),
    regions: new Map(regions.map((region) => [region.regionId, decodeRegion(region)])),
  };
}

function encodeRequest({ range, review, ...rest }: WhitelistRequest): RequestJson {
  const [text = ''] = rangeTexts(RangeSet.of(range));
  return {
    ...rest,
    range: text,
    review: review.phase === 'approved' ? { ...review, progress: [...review.progress] } : review,
  };
}

function decodeRequest({ range: text, review, ...rest }: RequestJson): WhitelistRequest {
  const range = parseRangeText(text);
  invariant(!isAddressProblem(range), `a stored whitelist request holds the range ${text}`);
  return {
    ...rest,
    range,
    review: review.phase === 'approved' ? { ...review, progress: new Map(review.progress) } : review,
  };
}

function decodeRegion({ live, touched, ...waiting }: RegionJson): RegionWhitelist {
  return { live: parseRangeTexts(live), touched: parseRangeTexts(touched), ...decodeWaiting(waiting) };
}
