import { quoteWord } from '../../domain/shell-words.ts';
import type { CommandContext, CommandSpec, OptionSpec } from '../command-spec.ts';
import { COMMANDS } from '../commands.ts';
import {
  allOptions,
  BRANCHES,
  type Offer,
  offerOfOption,
  type Place,
  placesOf,
  SCHEDULES,
  SESSIONS,
  STARTS,
  WORKFLOWS,
} from '../completion-offers.ts';

export async function run({ input, output }: CommandContext): Promise<number> {
  const write = { bash, zsh, fish }[input.argument('SHELL') as 'bash' | 'zsh' | 'fish'];
  output.data(write(COMMANDS.filter(({ isHidden }) => !isHidden)));
  return 0;
}

const IN_BASH = {
  files: '_pulse_paths -f; return',
  folders: '_pulse_paths -d; return',
  branches: `words="$(${BRANCHES})"`,
  sessions: `words="last $(${SESSIONS} | cut -f1)"`,
  workflows: `words="last $(${WORKFLOWS} | cut -f1)"`,
  schedules: `words="$(${SCHEDULES})"`,
  starts: `case " \${COMP_WORDS[*]} " in *" -- "*) words=${quoteWord(STARTS)} ;; esac`,
  none: 'return',
};

/** `=` is a word of its own there: `--base=ma` comes as three. */
function bash(commands: readonly CommandSpec[]): string {
  const names = quoteWord(['help', ...commands.map(({ name }) => name)].join(' '));
  const caseOf = (at: string, words: readonly string[]): string =>
    `      ${at}) words=${quoteWord(words.join(' '))} ;;`;
  const flags = commands.map((command) =>
    caseOf(
      command.name,
      allOptions(command).map(({ name }) => `--${name}`),
    ),
  );
  const actions = commands.flatMap((command) => {
    const named = actionsOf(command);
    return named ? [caseOf(command.name, named)] : [];
  });
  return `_pulse_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$current"))
}
_pulse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  local command="\${COMP_WORDS[1]}" action="\${COMP_WORDS[2]}"
  COMPREPLY=()
  if [ "$current" = "=" ]; then
    current=""
  elif [ "$previous" = "=" ]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${names}
  else case "$command $previous" in
${bashCases(valuesOf(commands))}
    *) case "$current" in
      -*) case "$command" in
${flags.join('\n')}
      esac ;;
      *) [ "$COMP_CWORD" -ne 2 ] || case "$command" in
      help) words=${names} ;;
${actions.join('\n')}
      esac
      [ -n "$words" ] || case "$command $action" in
${bashCases(commands.flatMap(placesOf))}
      esac ;;
    esac ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _pulse pulse`;
}

/** Places with the same offer are one case. A command without actions has any word behind it. */
function bashCases(places: readonly Place[]): string {
  const at = new Map<string, string[]>();
  for (const { words, offer } of places) {
    const does = typeof offer === 'string' ? IN_BASH[offer] : `words=${quoteWord(offer.join(' '))}`;
    const [command, second] = words;
    const pattern = second === undefined ? `${quoteWord(`${command} `)}*` : quoteWord(words.join(' '));
    at.set(does, [...(at.get(does) ?? []), pattern]);
  }
  return [...at].map(([does, patterns]) => `      ${patterns.join('|')}) ${does} ;;`).join('\n');
}

/** Each option that takes a value, as if it were an action. */
function valuesOf(commands: readonly CommandSpec[]): Place[] {
  return commands.flatMap((command) =>
    allOptions(command).flatMap((option): Place[] => {
      const offer = offerOfOption(option);
      return offer === null ? [] : [{ words: [command.name, `--${option.name}`], offer }];
    }),
  );
}

function actionsOf({ arguments: [first] = [] }: CommandSpec): readonly string[] | null {
  return first?.name === 'ACTION' ? (first.choices ?? []) : null;
}

const IN_ZSH = {
  files: '_files',
  folders: '_files -/',
  branches: '_pulse_branches',
  sessions: '_pulse_sessions',
  workflows: '_pulse_workflows',
  schedules: '_pulse_schedules',
  starts: `(( \${words[(I)--]} )) && compadd ${STARTS}`,
  none: '',
};

function inZsh(offer: Offer): string {
  return typeof offer === 'string' ? IN_ZSH[offer] : `(${offer.join(' ')})`;
}

function zsh(commands: readonly CommandSpec[]): string {
  const names = commands.map(
    ({ name, summary }) => `    ${quoteWord(`${name}:${summary.replaceAll(':', ' -')}`)}`,
  );
  const cases = commands.map((command) => {
    const options = allOptions(command).map((option) => quoteWord(zshOption(option)));
    return `    ${command.name}) _arguments ${[...options, ...zshArguments(command)].join(' ')} ;;`;
  });
  const behind = commands
    .filter((command) => actionsOf(command))
    .flatMap(placesOf)
    .map(({ words, offer }) => {
      const list =
        typeof offer === 'string' ? IN_ZSH[offer] : offer.length > 0 ? `compadd ${offer.join(' ')}` : '';
      return `    ${quoteWord(words.join(' '))}) ${list || ':'} ;;`;
    });
  return `#compdef pulse
${zshNames('_pulse_sessions', SESSIONS)}
${zshNames('_pulse_workflows', WORKFLOWS)}
_pulse_branches() { compadd -- \${(f)"$(${BRANCHES})"} }
_pulse_schedules() { compadd -- \${(f)"$(${SCHEDULES})"} }
_pulse_behind() {
  case "$name $words[2]" in
${behind.join('\n')}
  esac
}
_pulse() {
  local -a commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words; (( CURRENT-- ))
  case $name in
${cases.join('\n')}
  esac
}
compdef _pulse pulse`;
}

function zshNames(name: string, asked: string): string {
  return `${name}() {
  local -a names=("\${(@f)$(${asked} | tr ':\\t' '-:')}" last:'the newest of this project')
  _describe session names
}`;
}

function zshOption(option: OptionSpec): string {
  const { name, help, isRepeated } = option;
  const offer = offerOfOption(option);
  const text = help.replace(/[[\]:]/g, ' ');
  return `${isRepeated ? '*' : ''}--${name}[${text}]${offer === null ? '' : `:${name}:${inZsh(offer)}`}`;
}

/** What follows an action depends on which it is. */
function zshArguments(command: CommandSpec): string[] {
  const actions = actionsOf(command);
  if (actions) return [quoteWord(`1:action:(${actions.join(' ')})`), quoteWord('*:word:_pulse_behind')];
  const [{ offer } = { offer: 'none' as const }] = placesOf(command);
  return offer === 'none' || offer.length === 0 ? [] : [quoteWord(`*:word:${inZsh(offer)}`)];
}

const IN_FISH = {
  files: '-F',
  folders: "-a '(__fish_complete_directories)'",
  branches: `-a ${quoteWord(`(${BRANCHES})`)}`,
  sessions: `-a ${quoteWord(`(${SESSIONS}; echo last)`)}`,
  workflows: `-a ${quoteWord(`(${WORKFLOWS}; echo last)`)}`,
  schedules: `-a ${quoteWord(`(${SCHEDULES})`)}`,
  starts: `-a ${quoteWord(`(contains -- -- (commandline -opc); and string split ' ' ${quoteWord(STARTS)})`)}`,
  none: '',
};

/** `-f` keeps files away where nothing else is said, `-F` has them back. */
function fish(commands: readonly CommandSpec[]): string {
  const lines = [
    'function __pulse_at',
    '  set -l words (commandline -opc)',
    '  test "$words[2]" = $argv[1]; and begin; test (count $argv) -eq 1; or test "$words[3]" = $argv[2]; end',
    'end',
    'complete -c pulse -f',
  ];
  for (const command of commands) {
    const { name, summary } = command;
    lines.push(`complete -c pulse -n __fish_use_subcommand -a ${name} -d ${quoteWord(summary)}`);
    const here = quoteWord(`__pulse_at ${name}`);
    for (const option of allOptions(command)) {
      const offer = offerOfOption(option);
      const value = offer === null ? '' : ` ${offer === 'files' ? '-r' : '-x'} ${inFish(offer)}`.trimEnd();
      lines.push(`complete -c pulse -n ${here} -l ${option.name}${value} -d ${quoteWord(option.help)}`);
    }
    const actions = actionsOf(command);
    if (actions)
      lines.push(
        `complete -c pulse -n ${quoteWord(`__pulse_at ${name}; and test (count (commandline -opc)) -eq 2`)} -a ${quoteWord(actions.join(' '))}`,
      );
    for (const { words, offer } of placesOf(command)) {
      const offered = inFish(offer);
      if (offered)
        lines.push(`complete -c pulse -n ${quoteWord(`__pulse_at ${words.join(' ')}`)} ${offered}`);
    }
  }
  return lines.join('\n');
}

function inFish(offer: Offer): string {
  if (typeof offer === 'string') return IN_FISH[offer];
  return offer.length === 0 ? '' : `-a ${quoteWord(offer.join(' '))}`;
}
