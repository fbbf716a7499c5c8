import { isInteger, isSafeNumber, parse } from 'lossless-json';
import type { paths } from './api.ts';

/** An answer whose integers are a `bigint` where a `number` would have lost digits. */
export type Exact<T> = T extends number
  ? T | bigint
  : T extends readonly (infer Item)[]
    ? Exact<Item>[]
    : T extends object
      ? { [Name in keyof T]: Exact<T[Name]> }
      : T;

/** What `GET /subnets` answers, for `parseExactly`. */
export type Subnets = paths['/api/v1/subnets']['get']['responses'][200]['content']['application/json'];

/**
 * Reads the text of an answer (`parseAs: 'text'`) without rounding: integers above 2^53, as counts of IPv6 addresses are, become `bigint`,
 * all other numbers stay `number`.
 */
export function parseExactly<T>(text: string): Exact<T> {
  // What the text holds is what the description of the API says.
  return parse(text, undefined, number) as Exact<T>;
}

function number(digits: string): number | bigint {
  return isInteger(digits) && !isSafeNumber(digits) ? BigInt(digits) : Number.parseFloat(digits);
}
