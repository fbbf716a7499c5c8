import type { RequestHandler } from 'express';
import { problems, sendProblem } from '../problems.ts';

const IGNORED_BYTES_MAX = 1024 * 1024;

/**
 * Lets a request go on once all of it has come, well-formed to its last byte: before that nothing may be changed in its name. A compressed
 * body may be read before the message that carries it has ended. What is left of a body is thrown away, up to 1 MiB. A request that breaks
 * off or is refused by the HTTP parser ends here.
 */
export const requireWhole: RequestHandler = (request, response, next) => {
  const goOn = (): void => {
    request.off('data', ignore);
    if (request.complete && !response.headersSent) next();
  };
  let ignored = 0;
  const ignore = (piece: Buffer): void => {
    ignored += piece.length;
    if (ignored <= IGNORED_BYTES_MAX) return;
    request.off('data', ignore).off('end', goOn);
    sendProblem(response, problems.bodyTooLarge);
  };
  if (request.complete) return goOn();
  request.on('data', ignore).once('end', goOn).resume();
};
