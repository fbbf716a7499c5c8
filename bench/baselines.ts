// The packages that benchmarks compare with live in bench/node_modules, so that the product never depends on them.
import { spawnSync } from 'node:child_process';

/** A function of a package that only the benchmarks install; `npm ci` runs in bench/ when it isn't there yet. */
export async function baselineFunction(name: string, functionName: string): Promise<(...given: unknown[]) => unknown> {
  const exported: unknown = Reflect.get(await baselineModule(name), functionName);
  if (typeof exported !== 'function') throw new Error(`${name} has no function ${functionName}`);
  return (...given) => Reflect.apply(exported, undefined, given);
}

async function baselineModule(name: string): Promise<object> {
  // The name is not a literal: the compiler must not look for what may not be installed.
  try {
    return await import(name);
  } catch {
    const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: import.meta.dirname,
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error(`npm ci in bench/ failed, ${name} is not there to compare with`);
    return await import(name);
  }
}
