import type { RequestHandler } from 'express';
import { sendCountsAsText } from '../problems.ts';

/** A media range of `Accept` that asks for counts as text: `application/json;numbers=string`. */
const COUNTS_AS_TEXT =
  /(?:^|,)[ \t]*application\/json[ \t]*;(?:[^,]*;)?[ \t]*numbers[ \t]*=[ \t]*"?string"?[ \t]*(?:[;,]|$)/i;

/** Answers have their counts as decimal text where that is asked for: many readers of JSON round numbers above 2^53, or refuse them. */
export const chooseNumbers: RequestHandler = (request, response, next) => {
  const { accept } = request.headers;
  if (request.query['numbers'] === 'string' || (accept !== undefined && COUNTS_AS_TEXT.test(accept)))
    sendCountsAsText(response);
  next();
};
