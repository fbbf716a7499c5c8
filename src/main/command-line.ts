import { ROUTER_DRIVERS } from '../adapters/routers/open-router.ts';
import { CLOUD_DRIVERS } from '../adapters/clouds/open-cloud.ts';
import { systemIds } from '../adapters/ids.ts';
import { createLog } from '../adapters/log.ts';
import { withoutPasswords } from '../adapters/without-passwords.ts';
import { operatorContext } from '../cli/output.ts';
import { runProgram } from '../cli/program.ts';
import { readConfig } from '../config.ts';
import { commandArchive } from './command-archive.ts';
import { commandApplication } from './application.ts';
import { backUpEnds } from './back-up-ends.ts';
import { examineInstallation } from './doctor.ts';
import { explainFailure } from './explain-failure.ts';
import { grantReading, initDataDirectory } from './stores.ts';
import { VERSION } from './version.ts';

const commandLog = createLog({ level: 'warn', destination: 'stderr' });

/** Runs what was typed, and gives the exit code. */
export function runCommandLine(args: readonly string[]): Promise<number> {
  // The program that reads what is printed may have seen enough (`edgeward events … | head`).
  process.stdout.on('error', (error) => {
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
    process.exit();
  });

  return runProgram(args, {
    version: VERSION,
    write: (text) => void process.stdout.write(text),
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    writeError: (text) => void process.stderr.write(withoutPasswords(text)),
    withApplication: commandApplication(readConfig, commandLog),
    withArchive: commandArchive(readConfig, commandLog),
    cloudDrivers: CLOUD_DRIVERS,
    routerDrivers: ROUTER_DRIVERS,
    storeEnds: backUpEnds(readConfig, commandLog),
    grantReading,
    doctor: examineInstallation(readConfig, commandLog),
    serve,
    init: () => initDataDirectory(readConfig(), commandLog),
    demo: async ({ exit }) => {
      const { demo } = await import('./demo.ts');
      await demo({ exit, write: (text) => void process.stdout.write(text), stopped: interrupted() });
    },
    explain: explainFailure,
  });
}

async function serve({ restored }: Readonly<{ restored: boolean }>): Promise<void> {
  const config = readConfig();
  // Commands start without what only a server needs.
  const { startServer } = await import('./server.ts');
  const server = await startServer(config, createLog({ level: config.logLevel, destination: 'stdout' }), {
    restored: restored ? operatorContext(systemIds) : undefined,
  });
  interrupted().addEventListener('abort', () => void server.stop(), { once: true });
  try {
    await server.ended;
  } finally {
    await server.stop();
  }
}

/** Aborts at SIGTERM or SIGINT. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGTERM', () => controller.abort()).once('SIGINT', () => controller.abort());
  return controller.signal;
}
