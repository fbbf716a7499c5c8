import { execFile } from 'node:child_process';

/** Runs a program to its end and gives what it printed; fails with what it complained about. */
export function runProgram([program = '', ...args]: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${program} ${args.join(' ')}: ${stderr.trim() || error.message}`, { cause: error }));
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
