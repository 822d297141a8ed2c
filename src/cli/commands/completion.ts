import { AGENT_NAMES } from '../../agents/registry.ts';
import { quoteWord } from '../../domain/shell-words.ts';
import type { CommandContext, CommandSpec, OptionSpec } from '../command-spec.ts';
import { COMMANDS } from '../commands.ts';
import { COMMON_OPTIONS } from '../parser.ts';

export async function run({ input, output }: CommandContext): Promise<number> {
  const write = { bash, zsh, fish }[input.argument('SHELL') as 'bash' | 'zsh' | 'fish'];
  output.data(write(COMMANDS.filter(({ isHidden }) => !isHidden)));
  return 0;
}

/** What a shell asks for the sessions there are: one a line, then what it is about. */
const SESSIONS = 'pulse session-names 2>/dev/null';

/** In some commands it depends on the action before it. */
function takesSession({ arguments: all = [] }: CommandSpec): boolean {
  return all.some(({ isSession }) => isSession !== undefined);
}

function bash(commands: readonly CommandSpec[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) words=${quoteWord(wordsOf(command).join(' '))} ;;`,
  );
  const values = choices(commands).map(
    ([flag, words]) => `    ${flag}) words=${quoteWord(words.join(' '))} ;;`,
  );
  return `_pulse() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoteWord(['help', ...commands.map(({ name }) => name)].join(' '))} -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    help) words=${quoteWord(commands.map(({ name }) => name).join(' '))} ;;
  esac
  case "\${COMP_WORDS[1]}" in
    ${commands
      .filter(takesSession)
      .map(({ name }) => name)
      .join('|')})
      case "$current" in -*) ;; *) words="$words last $(${SESSIONS} | cut -f1)" ;; esac ;;
  esac
  case "$previous" in
${values.join('\n')}
    --path|--output) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _pulse pulse`;
}

function zsh(commands: readonly CommandSpec[]): string {
  const names = commands.map(
    ({ name, summary }) => `    ${quoteWord(`${name}:${summary.replaceAll(':', ' -')}`)}`,
  );
  const cases = commands.map((command) => {
    const options = allOptions(command).map(({ name, help, value, choices: allowed, isRepeated }) => {
      const text = help.replace(/[[\]:]/g, ' ');
      const rest =
        value === undefined
          ? ''
          : `:${name}:${allowed ? `(${allowed.join(' ')})` : name === 'path' ? '_files -/' : '_default'}`;
      return quoteWord(`${isRepeated ? '*' : ''}--${name}[${text}]${rest}`);
    });
    const words = (command.arguments ?? []).map(({ name, choices: allowed, isSession }) =>
      quoteWord(`:${name}:${allowed ? `(${allowed.join(' ')})` : isSession ? '_pulse_sessions' : ''}`),
    );
    return `    ${command.name}) _arguments ${[...options, ...words].join(' ')} ;;`;
  });
  return `#compdef pulse
_pulse_sessions() {
  local -a names=("\${(@f)$(${SESSIONS} | tr ':\\t' '-:')}" last:'the newest of this project')
  _describe session names
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

function fish(commands: readonly CommandSpec[]): string {
  const lines = ['complete -c pulse -f'];
  for (const command of commands) {
    const { name, summary } = command;
    lines.push(`complete -c pulse -n __fish_use_subcommand -a ${name} -d ${quoteWord(summary)}`);
    const seen = quoteWord(`__fish_seen_subcommand_from ${name}`);
    for (const option of allOptions(command)) {
      const value = option.choices
        ? ` -x -a ${quoteWord(option.choices.join(' '))}`
        : option.value
          ? ' -r'
          : '';
      lines.push(`complete -c pulse -n ${seen} -l ${option.name}${value} -d ${quoteWord(option.help)}`);
    }
    if (takesSession(command))
      lines.push(`complete -c pulse -n ${seen} -a ${quoteWord(`(${SESSIONS}; echo last)`)}`);
    for (const { choices: allowed } of command.arguments ?? []) {
      if (allowed) lines.push(`complete -c pulse -n ${seen} -a ${quoteWord(allowed.join(' '))}`);
    }
  }
  return lines.join('\n');
}

/** With the agents there are as the values of `--agent`. */
function allOptions(command: CommandSpec): OptionSpec[] {
  const options = [...(command.options ?? []), ...COMMON_OPTIONS];
  return options.map((option) => (option.name === 'agent' ? { ...option, choices: AGENT_NAMES } : option));
}

function wordsOf(command: CommandSpec): string[] {
  const allowed = (command.arguments ?? []).flatMap(({ choices: words }) => words ?? []);
  return [...allOptions(command).map(({ name }) => `--${name}`), ...allowed];
}

/** Options with a closed list of values, the same in every command. */
function choices(commands: readonly CommandSpec[]): [string, readonly string[]][] {
  return commands.flatMap((command) =>
    allOptions(command).flatMap(({ name, choices: words }) =>
      words ? [[`--${name}`, words] as [string, readonly string[]]] : [],
    ),
  );
}
