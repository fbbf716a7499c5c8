/** Where the activation token of a run is kept until the run is over. */
export function activationSecretId(run: string): string {
  return `activation-${run}`;
}
