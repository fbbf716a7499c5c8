const FORM = /^edgeward\.([a-z0-9][a-z0-9-]{0,62})\.[A-Za-z0-9_-]{43}$/;

/** A token of a worker: it names the worker, so that what is known of it is read from the worker's own stream. */
export function workerToken(worker: string, secret: string): string {
  return `edgeward.${worker}.${secret}`;
}

/** The worker that a token names; `undefined` for what is no such token. */
export function workerNamedBy(token: string): string | undefined {
  return FORM.exec(token)?.[1];
}
