import type { Command } from 'commander';
import type { Finding } from '../../application/operations/doctor.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { CommandFailure, EXIT } from '../output.ts';

/** Looks at all of an installation. */
export type Doctor = () => Promise<readonly Finding[]>;

/** `doctor`. */
export function addDoctorCommand(
  program: Command,
  tools: Pick<CommandTools, 'write'> & Readonly<{ doctor: Doctor }>,
): void {
  leaf(program, 'doctor', 'one page of what is wrong with this installation; changes nothing').action(
    async (options: { json?: boolean }) => {
      const found = await tools.doctor();
      const wrong = found.filter(({ ok }) => !ok);
      outputOf(options, tools).object({ ok: wrong.length === 0, findings: found }, [
        ...found.map(({ check, ok, about }) => `${ok ? 'ok   ' : 'WRONG'}  ${check.padEnd(8)}  ${about}`),
        ...(wrong.length === 0 ? [] : ['', 'What to do:']),
        ...wrong.map(({ about, advice = '' }) => `  ${about}\n    ${advice}`),
      ]);
      if (wrong.length > 0) throw new CommandFailure(EXIT.failed, 'failed', `${counted(wrong.length, 'thing')} wrong`);
    },
  );
}
