import { RouterFailure } from '../../../ports/routers.ts';
import type { CommandExit, RemoteCommand } from './remote-command.ts';

/** A part of what a command printed: the text before a mark, the mark's word and the rest of its line. */
export type Section = Readonly<{ word: string; rest: string; text: string }>;

/** The sections of a command's output, in order. */
export type SectionReader = Readonly<{
  /** The next section, or the end of the command. @throws RouterFailure */
  next: () => Promise<Section | CommandExit>;
  /** What was printed since the last mark. */
  rest: () => string;
  /** Stops reading; the call that waits for a section fails with the failure. */
  stop: (failure: RouterFailure) => void;
}>;

/**
 * Reads what a command prints, divided by lines `<mark> <word> <rest>`. Fails with `unreadable-answer` above `outputBytes`.
 */
export function readSections(command: RemoteCommand, mark: string, outputBytes: number): SectionReader {
  const divider = new Divider(mark);
  let bytes = 0;
  let end: CommandExit | undefined;
  let failure: RouterFailure | undefined;
  let wake = noWaiter;

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
    rest: () => divider.rest(),
    stop,
  };
}

function lost(cause: unknown): RouterFailure {
  return new RouterFailure('unreachable', 'the connection was lost', { cause });
}

function noWaiter(): void {}

function ended(command: RemoteCommand): Promise<void> {
  return new Promise((resolve) => command.stdout.once('end', resolve).once('close', resolve));
}

/** Cuts a text that comes in pieces at its marks. Looks at every piece once, however long a section is. */
class Divider {
  readonly #beginning: string;
  readonly #decoder = new TextDecoder();
  readonly #sections: Section[] = [];
  /** What is known to hold no mark, from the line end before the section on. */
  #plain: string[] = [];
  /** What follows, in which a mark may have begun. */
  #open = '\n';

  constructor(mark: string) {
    this.#beginning = `\n${mark} `;
  }

  add(chunk: Buffer): void {
    this.#open += this.#decoder.decode(chunk, { stream: true });
    for (;;) {
      const at = this.#open.indexOf(this.#beginning);
      this.#setAside(at < 0 ? this.#open.length - this.#beginning.length : at);
      const end = this.#open.indexOf('\n', 1);
      if (at < 0 || end < 0) return;
      const [word, rest] = split(this.#open.slice(this.#beginning.length, end));
      this.#sections.push({ word, rest, text: this.#plain.join('').slice(1) });
      this.#plain = [];
      this.#open = this.#open.slice(end);
    }
  }

  take(): Section | undefined {
    return this.#sections.shift();
  }

  /** The text since the last mark. */
  rest(): string {
    return (this.#plain.join('') + this.#open).slice(1);
  }

  #setAside(length: number): void {
    if (length <= 0) return;
    this.#plain.push(this.#open.slice(0, length));
    this.#open = this.#open.slice(length);
  }
}

function split(line: string): readonly [string, string] {
  const space = line.indexOf(' ');
  return space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
}
