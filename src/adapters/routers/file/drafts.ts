import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ourLists } from '../driver-kit/prefix-lists.ts';

/** The files of lists that are not in place yet: `.<list>.<maker>.<uuid>.new`, or without a maker, as releases up to 0.1 wrote them. */
const DRAFT =
  /^\.(.+?)(?:\.([0-9a-f]{16})-([0-9]+)-([0-9]+))?\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.new$/;

/** A draft is written and renamed at once; one whose writer can't be asked is left over when it has stood for so long. */
const LEFT_OVER_MILLISECONDS = 3_600_000;

/** The name of a new draft of a list, which says which process makes it. */
export function draftName(list: string, uuid: string): string {
  return `.${list}.${MAKER}.${uuid}.new`;
}

/** A draft of some process, as a look at its directory has found it. */
export type Draft = Readonly<{ file: string; list: string; maker: DraftMaker }>;

/** Who has made it, where its name says that: in which application, by which process, and when that began. */
type DraftMaker = Readonly<{ application: string | undefined; pid: string | undefined; begun: string | undefined }>;

/** The drafts of lists that are in a directory now, those of this process too. */
export async function draftsIn(directory: string): Promise<readonly Draft[]> {
  const names = (await readdir(directory)).filter((name) => name.startsWith('.'));
  return names.flatMap((name) => {
    const [, list, application, pid, begun] = DRAFT.exec(name) ?? [];
    if (list === undefined || ourLists([list]).length === 0) return [];
    return [{ file: join(directory, name), list, maker: { application, pid, begun } }];
  });
}

/**
 * Removes those of the drafts that processes have left which are gone. A draft of a process that lives is never touched; one of another
 * machine or container, which can't be asked, goes when it is an hour old by the clock of the directory's files.
 */
export async function removeLeftOvers(drafts: readonly Draft[]): Promise<void> {
  for (const draft of drafts) if (await isLeftOver(draft)) await unlink(draft.file).catch(ignoreMissing);
}

async function isLeftOver({ file, maker: { application, pid, begun } }: Draft): Promise<boolean> {
  if (application === APPLICATION && pid !== undefined) return begun !== startOf(pid);
  const stats = await stat(file).catch(ignoreMissing);
  return stats !== undefined && Date.now() - stats.mtimeMs > LEFT_OVER_MILLISECONDS;
}

/** Where process ids mean the same: this boot of this machine, and the container in it. Undefined where that can't be known. */
const APPLICATION = applicationOf();
const MAKER = `${APPLICATION ?? '0'.repeat(16)}-${process.pid}-${startOf(String(process.pid)) ?? '0'}`;

function applicationOf(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
    return createHash('sha256')
      .update(`${boot}${readlinkSync('/proc/self/ns/pid')}`)
      .digest('hex')
      .slice(0, 16);
  } catch {
    // Not Linux: then the age decides.
    return undefined;
  }
}

/**
 * When a process began, in ticks since the boot (proc(5), field 22 of stat): an id may be given again. Undefined when it is gone, or dead
 * and not taken note of by its parent.
 */
function startOf(pid: string): string | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
