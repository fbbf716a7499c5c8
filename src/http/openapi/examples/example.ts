/** A request as it can be sent, and what is answered then. Ids, instants and secrets are others each time. */
export type Example = Readonly<{
  body?: object;
  status: number;
  /** Missing where the answer is no JSON, or nothing. */
  answer?: object;
  /** There where the list has more rows than these. */
  isPart?: true;
}>;

/** By the id of the operation. */
export type Examples = Readonly<Record<string, Example>>;

/** One thing is shown. */
export function shown(data: object): Example {
  return { status: 200, answer: { data } };
}

/** A page of a list, the last one. */
export function page(...rows: readonly object[]): Example {
  return { status: 200, answer: { data: rows, meta: { next_after: null } } };
}

type Told = Readonly<{ body?: object; status?: number; meta?: object }>;

/** An administrator changes something, or makes it (`status` 201). `meta`: what is said beside that it has changed. */
export function changed(data: object, { body, status = 200, meta = {} }: Told = {}): Example {
  return { ...(body === undefined ? {} : { body }), status, answer: { data, meta: { changed: true, ...meta } } };
}

/** What several examples speak of. */
export const COMMIT_SET_ID = 'c9f0f895-fb98-4b91-b2f6-1d0a9f0e7c33';
export const DELIVERY_ID = `msg_${COMMIT_SET_ID}_success`;
export const REQUEST_ID = '45c48cce-2e2d-4fbd-a1b7-6c3f5e8d9a10';
export const TOKEN_ID = '8f14e45f-ceea-467f-9c1c-8c7f0a5a1d21';
export const WORK_ID = '6512bd43-d9ca-46e0-8ea2-2b9f4c7d1e88';
export const REQUESTED_AT = '2026-11-29T05:31:59.665+00:00';
export const COMPLETED_AT = '2026-11-29T05:31:59.781+00:00';
