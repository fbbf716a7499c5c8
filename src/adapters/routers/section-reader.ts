import { RouterFailure } from '../../ports/routers.ts';
import type { CommandExit, RemoteCommand } from './remote-command.ts';

/** A part of what a command printed: the text before a mark, the mark's word and the rest of its line. */
export type Section = Readonly<{ word: string; rest: string; text: string }>;

/** The sections of a command's output, in order. */
export type SectionReader = Readonly<{
  /** The next section, or the end of the command. @throws RouterFailure */
  next: () => Promise<Section | CommandExit>;
  /** Reads no more; whoever waits for a section gets the failure. */
  stop: (failure: RouterFailure) => void;
}>;

/**
 * Reads what a command prints, divided by lines `<mark> <word> <rest>`. Fails with `unreadable-answer` above `outputBytes`.
 * The text after the last mark is dropped.
 */
export function readSections(command: RemoteCommand, mark: string, outputBytes: number): SectionReader {
  const divider = new Divider(mark);
  let bytes = 0;
  let end: CommandExit | undefined;
  let failure: RouterFailure | undefined;
  let wake = nobodyWaits;

  const stop = (because: RouterFailure): void => {
    failure ??= because;
    wake();
  };
  command.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > outputBytes)
      stop(new RouterFailure('unreadable-answer', `the router sent more than ${outputBytes} bytes`));
    if (failure !== undefined) return;
    divider.add(chunk);
    wake();
  });
  command.stdout.on('error', (cause) => stop(lost(cause)));
  const seeTheEnd = async (): Promise<void> => {
    try {
      const [exit] = await Promise.all([command.exit, ended(command)]);
      end = exit;
      wake();
    } catch (cause) {
      stop(cause instanceof RouterFailure ? cause : lost(cause));
    }
  };
  void seeTheEnd();

  return {
    next: async () => {
      for (;;) {
        const section = divider.take();
        if (section !== undefined) return section;
        if (failure !== undefined) throw failure;
        if (end !== undefined) return end;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    stop,
  };
}

function lost(cause: unknown): RouterFailure {
  return new RouterFailure('unreachable', 'the connection was lost', { cause });
}

function nobodyWaits(): void {}

function ended(command: RemoteCommand): Promise<void> {
  return new Promise((resolve) => command.stdout.once('end', resolve).once('close', resolve));
}

/** Cuts a text that comes in pieces at its marks. */
class Divider {
  readonly #beginning: string;
  readonly #decoder = new TextDecoder();
  readonly #sections: Section[] = [];
  #text = '\n';
  /** Where a mark may begin that was not there before. */
  #from = 0;

  constructor(mark: string) {
    this.#beginning = `\n${mark} `;
  }

  add(chunk: Buffer): void {
    this.#text += this.#decoder.decode(chunk, { stream: true });
    for (;;) {
      const at = this.#text.indexOf(this.#beginning, this.#from);
      if (at < 0) {
        this.#from = Math.max(this.#from, this.#text.length - this.#beginning.length);
        return;
      }
      const end = this.#text.indexOf('\n', at + 1);
      if (end < 0) {
        this.#from = at;
        return;
      }
      const [word, rest] = split(this.#text.slice(at + this.#beginning.length, end));
      this.#sections.push({ word, rest, text: this.#text.slice(1, at) });
      this.#text = this.#text.slice(end);
      this.#from = 0;
    }
  }

  take(): Section | undefined {
    return this.#sections.shift();
  }
}

function split(line: string): readonly [string, string] {
  const space = line.indexOf(' ');
  return space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
}
