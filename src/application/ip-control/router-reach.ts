import { isAbsolute, relative } from 'node:path';
import type { RouterDriverReach } from '../../ports/routers.ts';

/** What router options may reach that come from afar. `root`: the folder below which routers may be folders; undefined where none may. */
export type RouterReach = Readonly<{ drivers: readonly RouterDriverReach[]; root: string | undefined }>;

const ROUTER_SECRET = /^secret:router-[A-Za-z0-9_.-]+$/;
const FOR_SECRETS =
  'must be secret:<id> of a secret whose id begins with "router-": files, and other secrets, are for the command line alone.';
const FOR_PROGRAMS =
  'must be left out where commands run on the server itself: what they are, and where, is for the command line alone.';
const FOR_FOLDERS = 'is for the command line alone, as ROUTER_FILES_ROOT is not set.';

/**
 * What is wrong with the options of a router that an administrator has sent who need not be allowed to read or write on the server: an option may
 * not make the server send a file or a secret of its own to a router, write outside of a folder, or start a program. By the option's name.
 */
export function beyondReach(
  { driver, options }: Readonly<{ driver: string; options: Readonly<Record<string, string>> }>,
  { drivers, root }: RouterReach,
): Readonly<Record<string, string>> {
  const known = drivers.find((one) => one.driver === driver);
  if (known === undefined) return {};
  const { here } = known;
  const isElsewhere = here !== undefined && options[here.option] !== here.value;
  const problems: Record<string, string> = {};
  for (const { name, reach } of known.options) {
    const value = options[name];
    if (value === undefined) continue;
    if (reach === 'secret' && !ROUTER_SECRET.test(value)) problems[name] = FOR_SECRETS;
    if (reach === 'machine' && !isElsewhere) problems[name] = FOR_PROGRAMS;
    if (reach === 'folder' && root === undefined) problems[name] = FOR_FOLDERS;
    if (reach === 'folder' && root !== undefined && !isBelow(root, value))
      problems[name] = `must be the absolute path of a folder below ${root}.`;
  }
  return problems;
}

function isBelow(root: string, path: string): boolean {
  if (!isAbsolute(path) || path.split('/').includes('..')) return false;
  const within = relative(root, path);
  return within !== '' && !within.startsWith('..');
}
