import { parse, type ParsedUrlQuery } from 'node:querystring';
import type { Request, RequestHandler } from 'express';
import { type FieldErrors, invalid, sendProblem } from '../problems.ts';

/** The query of a URL. Names with brackets are names; none is passed over, however many there are. */
export function parseQuery(text: string | undefined): ParsedUrlQuery {
  return parse(text ?? '', '&', '=', { maxKeys: 0 });
}

/** Every endpoint takes it. */
const NUMBERS = 'numbers';

/** What is wrong with the names in a query: an endpoint takes those that it knows, each once. */
export function queryErrors(request: Request, known: readonly string[] = []): FieldErrors {
  if (!request.originalUrl.includes('?')) return {};
  const wrong: [string, readonly string[]][] = [];
  for (const [name, value] of Object.entries(request.query)) {
    if (name !== NUMBERS && !known.includes(name)) wrong.push([name, ['is not a known field.']]);
    else if (typeof value !== 'string') wrong.push([name, ['must be given once.']]);
    else if (name === NUMBERS && value !== 'string') wrong.push([name, ['must be string.']]);
  }
  return Object.fromEntries(wrong);
}

/** 422 for any query of its own, at endpoints that take none. */
export const refuseQuery: RequestHandler = (request, response, next) => {
  const errors = queryErrors(request);
  if (Object.keys(errors).length > 0) sendProblem(response, invalid(errors));
  else next();
};
