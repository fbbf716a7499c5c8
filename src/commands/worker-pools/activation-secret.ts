/** Where the first-boot user data of a run, its activation token among them, are kept until the run is over. */
export function activationSecretId(run: string): string {
  return `activation-${run}`;
}

/** Where the installation's own mark on what it makes at providers is kept, from the first launch on. Without it nothing of its instances is found. */
export const INSTALLATION_SECRET_ID = 'installation';
