import { Command, CommanderError, type Option } from 'commander';
import type { BackUpEnds } from '../application/operations/back-up.ts';
import { addAdminCommands } from './ip-control/admin.ts';
import { addAssetCommands } from './worker-pools/asset.ts';
import type { CommandTools } from './command.ts';
import { addCommitCommands } from './ip-control/commit.ts';
import { addCustomerCommands } from './ip-control/customer.ts';
import { addCompletionCommand, everyCommand, pathOf } from './operations/completion.ts';
import { addDoctorCommand, type Doctor } from './operations/doctor.ts';
import { addEventsCommand } from './ip-control/events.ts';
import { CommandFailure, EXIT, usage } from './output.ts';
import { addInitCommand, type Initialized } from './operations/init.ts';
import { addProjectionCommands } from './operations/projections.ts';
import { addRegionCommands } from './ip-control/region.ts';
import { addRouterCommands } from './ip-control/router.ts';
import { addRestoreCommands } from './ip-control/restore.ts';
import { addScopeCommands } from './worker-pools/scope.ts';
import { addSecretCommands } from './operations/secret.ts';
import { addStateCommand } from './ip-control/state.ts';
import { addStoreCommands, type GrantReading } from './operations/stores.ts';
import { addSubnetCommands } from './ip-control/subnet.ts';
import { addTokenCommands } from './ip-control/token.ts';
import { addVerifyCommand } from './operations/verify.ts';
import { addWorkCommands } from './worker-pools/work.ts';
import { addWorkerPoolCommands } from './worker-pools/worker-pool.ts';
import { addWorkerCommands } from './worker-pools/worker.ts';
import { addWhitelistCommands } from './ip-control/whitelist.ts';

export type ProgramTools = CommandTools &
  Readonly<{
    version: string;
    writeError: (text: string) => void;
    serve: (options: Readonly<{ restored: boolean }>) => Promise<void>;
    demo: (options: Readonly<{ exit: boolean }>) => Promise<void>;
    /** Makes the data directory that the settings name, unless it is there. */
    init: () => Promise<Initialized>;
    storeEnds: BackUpEnds;
    grantReading: GrantReading;
    doctor: Doctor;
    /** The exit code and the line for an error that is not a command's own. */
    explain: (error: unknown) => Readonly<{ exitCode: number; message: string }>;
  }>;

const JSON_LINES = '--json=lines';

/** Runs the command that the arguments name and answers the exit code. */
export async function runProgram(typed: readonly string[], given: ProgramTools): Promise<number> {
  const jsonLines = typed.includes(JSON_LINES);
  const args = typed.map((arg) => (arg === JSON_LINES ? '--json' : arg));
  const tools = { ...given, jsonLines };
  const json = args.includes('--json');
  const output = {
    writeOut: tools.write,
    writeErr: tools.writeError,
    // For machines `report` tells it.
    outputError: (message: string, write: (text: string) => void) => void (json || write(message)),
  };
  const program = new Command('edgeward')
    .description(
      'Customers take addresses out of service over a REST API; edgeward puts the result on every router of the region.',
    )
    .version(tools.version)
    .configureOutput(output)
    .exitOverride();
  program
    .command('serve')
    .description('start the service')
    .option('--restored', 'the log was put back from an older copy: routers keep what it does not explain')
    .action((options: { restored?: boolean }) => tools.serve({ restored: options.restored === true }));
  program
    .command('demo')
    .description('the main job end to end, in a throw-away data directory')
    .option('--exit', 'end instead of staying up')
    .action((options: { exit?: boolean }) => tools.demo({ exit: options.exit === true }));
  addInitCommand(program, tools);
  addAdminCommands(program, tools);
  addRegionCommands(program, tools);
  addRouterCommands(program, tools);
  addSecretCommands(program, tools);
  addCustomerCommands(program, tools);
  addTokenCommands(program, tools);
  addSubnetCommands(program, tools);
  addCommitCommands(program, tools);
  addWhitelistCommands(program, tools);
  addEventsCommand(program, tools);
  addStateCommand(program, tools);
  addVerifyCommand(program, tools);
  addDoctorCommand(program, tools);
  addProjectionCommands(program, tools);
  addStoreCommands(program, tools);
  addRestoreCommands(program, tools);
  addWorkerPoolCommands(program, tools);
  addScopeCommands(program, tools);
  addAssetCommands(program, tools);
  addWorkerCommands(program, tools);
  addWorkCommands(program, tools);
  addCompletionCommand(program, tools);
  const required = requiredOptions(program);
  program.hook('preAction', (_program, command) => requireAll(command, required.get(command) ?? []));
  for (const command of everyCommand(program)) command.exitOverride().configureOutput(output);
  if (args.length === 0) {
    program.outputHelp();
    return EXIT.ok;
  }
  try {
    await program.parseAsync(asHelpOption(args), { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    return report(error, json, tools);
  }
}

/** `help router add` is `router add --help`. */
function asHelpOption(args: readonly string[]): string[] {
  const [first, ...path] = args;
  return first === 'help' && path.length > 1 ? [...path, '--help'] : [...args];
}

/** Marks the options that a command needs, and has all that are missing told at once; commander would tell the first one. */
function requiredOptions(program: Command): ReadonlyMap<Command, readonly Option[]> {
  return new Map(
    everyCommand(program).map((command) => {
      const required = command.options.filter(({ mandatory }) => mandatory);
      for (const option of required) {
        option.mandatory = false;
        option.description += ' (required)';
      }
      return [command, required];
    }),
  );
}

function requireAll(command: Command, required: readonly Option[]): void {
  const missing = required.filter((option) => command.getOptionValue(option.attributeName()) === undefined);
  if (missing.length === 0) return;
  const flags = missing.map((option) => option.flags).join(', ');
  throw usage(`${flags} must be given; edgeward help ${pathOf(command).join(' ')} says more.`);
}

function failureOf(
  error: unknown,
  { explain }: ProgramTools,
): Readonly<{ exitCode: number; code: string; message: string }> {
  if (error instanceof CommanderError) return usage(error.message.replace(/^error: /, ''));
  return error instanceof CommandFailure ? error : { ...explain(error), code: 'failed' };
}

function report(error: unknown, json: boolean, tools: ProgramTools): number {
  // Commander has printed the help or version that was asked for, and, for people, its own message.
  if (error instanceof CommanderError && (!json || error.exitCode === 0 || error.code === 'commander.help'))
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const { exitCode, message, code } = failureOf(error, tools);
  tools.writeError(json ? `${JSON.stringify({ error: { code, message } })}\n` : `edgeward: ${message}\n`);
  return exitCode;
}
