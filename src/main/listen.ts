import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BadConfig, type Config } from '../config.ts';

/** Lets a server listen; gives its URL. */
export async function listen(http: Server, host: string, port: number): Promise<string> {
  http.listen(port, host);
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return urlOf(address);
}

type Ports = Pick<Config, 'host' | 'port' | 'adminEnabled' | 'adminPort' | 'metricsPort'>;

/** The address is not one of this machine, or the name leads to none. */
const NO_HOST: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL']);

/** That a server can listen where the settings say, before anything else is begun. @throws BadConfig, which names the setting */
export async function requireFreePorts({ host, port, adminEnabled, adminPort, metricsPort }: Ports): Promise<void> {
  const settings = { PORT: port, ADMIN_PORT: adminEnabled ? adminPort : undefined, METRICS_PORT: metricsPort };
  for (const [setting, wanted] of Object.entries(settings)) {
    if (wanted === undefined) continue;
    const attempt = createServer();
    try {
      await listen(attempt, host, wanted);
    } catch (error) {
      const why = error instanceof Error && 'code' in error ? error.code : undefined;
      if (why === 'EADDRINUSE')
        throw new BadConfig(
          `bad settings: ${setting}: ${host}:${wanted} is in use by another program; name a free port`,
        );
      if (NO_HOST.has(why))
        throw new BadConfig(
          `bad settings: HOST: ${host} is no address of this machine (${String(why)}); name one that it has, or 0.0.0.0 for all`,
        );
      if (why === 'EACCES')
        throw new BadConfig(
          `bad settings: ${setting}: this user may not listen on ${host}:${wanted}; name a port above 1023`,
        );
      throw error;
    } finally {
      attempt.close();
    }
  }
}

function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
