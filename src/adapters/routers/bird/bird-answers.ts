import { RouterFailure } from '../../../ports/routers.ts';

/** What birdc printed with `-v`: every line of BIRD's begins with a code of four digits. */
type BirdAnswer = Readonly<{ code: number; text: string }>;

/** BIRD's codes (doc/reply_codes of its sources). */
const WELCOME = 1;
const RESTRICTED = 16;
const EVALUATION = 23;
const ACCESS_DENIED = 8007;
const PARSE_ERROR = 9001;
const FIRST_ERROR = 8000;

const LINE = /^(\d{4})[ -](.*)$/;

/**
 * The last answer to one command. @throws RouterFailure `unreachable` when BIRD did not answer, `not-permitted` when its socket
 * is a restricted one, `rejected` for any other error
 */
export function answerIn(output: string, what: string): BirdAnswer {
  const lines = output.split('\n').flatMap((line) => answerOf(line) ?? []);
  const answers = lines.filter(({ code }) => code !== WELCOME && code !== RESTRICTED);
  const error = answers.find(({ code }) => code >= FIRST_ERROR);
  const last = error ?? answers.at(-1);
  if (last === undefined) throw new RouterFailure('unreachable', `${what}: BIRD does not answer: ${shown(output)}`);
  if (error === undefined) return last;
  const code = error.code === ACCESS_DENIED ? 'not-permitted' : 'rejected';
  throw new RouterFailure(code, `${what}: BIRD says: ${error.text.slice(0, 300)}`);
}

/** The value of a symbol that was evaluated, or undefined when BIRD knows no such symbol. @throws RouterFailure */
export function valueIn(output: string, what: string): string | undefined {
  const lines = output.split('\n').flatMap((line) => answerOf(line) ?? []);
  if (lines.some(({ code, text }) => code === PARSE_ERROR && text.includes('SYM_UNDEFINED'))) return undefined;
  const { code, text } = answerIn(output, what);
  if (code === EVALUATION) return text;
  throw new RouterFailure('unreadable-answer', `${what}: BIRD answered ${code} ${text.slice(0, 100)}`);
}

function answerOf(line: string): BirdAnswer | undefined {
  const [, code, text = ''] = LINE.exec(line) ?? [];
  return code === undefined ? undefined : { code: Number(code), text };
}

function shown(output: string): string {
  return output.trim().split('\n').slice(-2).join('; ').slice(0, 300) || 'it printed nothing';
}
