import { Argument, type Command } from 'commander';
import { usage } from '../output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** What may come after a command: its own commands, or its options. */
type Place = Readonly<{ path: string; isGroup: boolean; words: readonly Readonly<{ word: string; about: string }>[] }>;

/** `completion bash | zsh | fish`: prints what the shell is to read, made from the commands as they are. */
export function addCompletionCommand(program: Command, { write }: Readonly<{ write: (text: string) => void }>): void {
  program
    .command('completion')
    .description('print what makes a shell complete commands and options')
    .addArgument(
      new Argument(
        '<shell>',
        'bash: source <(edgeward completion bash); zsh: the same; fish: edgeward completion fish | source',
      ),
    )
    .action((named: string) => {
      const shell = SHELLS.find((one) => one === named);
      if (shell === undefined) throw usage(`shell must be one of ${SHELLS.join(', ')}.`);
      write(SCRIPTS[shell](placesOf(program)));
    });
}

/** A command and all below it. */
export function everyCommand(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** The words with which a command is typed, without the program's own name. */
export function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

function placesOf(program: Command): readonly Place[] {
  return everyCommand(program).map((command) => ({
    path: pathOf(command).join(' '),
    isGroup: command.commands.length > 0,
    words:
      command.commands.length > 0
        ? command.commands.map((one) => ({ word: one.name(), about: one.description() }))
        : command.options.flatMap(({ long, hidden, description }) =>
            typeof long === 'string' && !hidden ? [{ word: long, about: description }] : [],
          ),
  }));
}

const SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: (places) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(places)}`,
  fish: fishScript,
};

/** Words that are no options make the place; of a command without commands of its own, whatever follows is an argument. */
function bashScript(places: readonly Place[]): string {
  const cases = places.map(({ path, isGroup, words }) => {
    const pattern = isGroup ? `"${path}"` : `"${path}" | "${path} "*`;
    return `    ${pattern}) candidates="${words.map(({ word }) => word).join(' ')}" ;;`;
  });
  return `_edgeward() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="" candidates="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) place="\${place:+$place }$word" ;; esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _edgeward edgeward
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, isGroup, words }) =>
    words.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c edgeward ${isGroup ? '-f ' : ''}-n '__edgeward_at ${isGroup ? 'group' : 'leaf'} "${path}"' ${what} -d ${inSingleQuotes(about)}`;
    }),
  );
  return `function __edgeward_at
  set -l place
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; or set -a place $word
  end
  set -l typed (string join ' ' -- $place)
  test "$typed" = "$argv[2]"; or begin
    test "$argv[1]" = leaf; and string match -q -- "$argv[2] *" "$typed"
  end
end
${lines.join('\n')}
`;
}

function inSingleQuotes(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
