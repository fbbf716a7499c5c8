#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { systemIds } from './adapters/ids.ts';
import { createLog } from './adapters/log.ts';
import { operatorContext } from './cli/output.ts';
import { runProgram } from './cli/program.ts';
import { readConfig } from './config.ts';
import { commandArchive } from './main/command-archive.ts';
import { commandApplication } from './main/application.ts';
import { copyEnds } from './main/copy-ends.ts';
import { explainFailure } from './main/explain-failure.ts';
import { initDataDirectory } from './main/stores.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const commandLog = createLog({ level: 'warn', destination: 'stderr' });

// Whoever reads what is printed may have seen enough (`edgeward events … | head`).
process.stdout.on('error', (error) => {
  if (!('code' in error) || error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runProgram(process.argv.slice(2), {
  version,
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  withApplication: commandApplication(readConfig, commandLog),
  withArchive: commandArchive(readConfig, commandLog),
  copyEnds: copyEnds(readConfig, commandLog),
  serve,
  init: () => initDataDirectory(readConfig(), commandLog),
  demo: async ({ exit }) => {
    const { demo } = await import('./main/demo.ts');
    await demo({ exit, write: (text) => void process.stdout.write(text), stopped: interrupted() });
  },
  explain: explainFailure,
});

async function serve({ restored }: Readonly<{ restored: boolean }>): Promise<void> {
  const config = readConfig();
  // Commands start without what only a server needs.
  const { startServer } = await import('./main/server.ts');
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
