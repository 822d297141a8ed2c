/** Turns the command line into a command and its input. Throws `usage` for what the table does not know. */
import { parseDuration } from '../domain/durations.ts';
import { isPulseError, PulseError } from '../domain/errors.ts';
import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';
import { nearest } from './suggest.ts';

export interface Input {
  /** Whether a switch was given. */
  has(option: string): boolean;
  text(option: string): string | undefined;
  texts(option: string): string[] | undefined;
  number(option: string): number | undefined;
  /** `null` is `none`: no limit. */
  usd(option: string): number | null | undefined;
  argument(name: string): string | undefined;
  /** Of a repeated argument. */
  words(name: string): string[];
}

export interface ParsedCommand {
  command: CommandSpec;
  input: Input;
  /** `--help` was among the options: nothing else was checked. */
  isHelp: boolean;
}

/** Options that every command has. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: 'json', help: 'Print JSON on stdout instead of text.' },
  { name: 'help', help: 'Show this help.' },
];

/** `argv` without the program; its first word is the command. */
export function parseCommand(argv: readonly string[], commands: readonly CommandSpec[]): ParsedCommand {
  const [name = '', ...words] = argv;
  const command = findCommand(name, commands);
  const options = [...(command.options ?? []), ...COMMON_OPTIONS];
  const { values, positionals } = sortWords(words, { command, options });
  if (values.has('help')) return { command, input: createInput(values, new Map()), isHelp: true };
  const given = bindArguments(positionals, command);
  return { command, input: createInput(values, given), isHelp: false };
}

/** Whether `--json` was asked for, even on a line that cannot be parsed. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}

export function findCommand(name: string, commands: readonly CommandSpec[]): CommandSpec {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  if (name.startsWith('-')) {
    throw new PulseError('usage', `${name} must come after a command.`, { hint: 'pulse help shows them.' });
  }
  const offered = commands.filter(({ isHidden }) => !isHidden).map((command) => command.name);
  const guess = nearest(name, offered);
  throw new PulseError('usage', `There is no command "${name}".`, {
    hint: guess ? `Did you mean: pulse ${guess}` : 'pulse help shows what there is.',
  });
}

type Value = string | number | null | true;
type Values = Map<string, Value[]>;

interface Grammar {
  command: CommandSpec;
  options: readonly OptionSpec[];
}

function sortWords(words: readonly string[], grammar: Grammar): { values: Values; positionals: string[] } {
  const values: Values = new Map();
  const positionals: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === '--') {
      positionals.push(...words.slice(i + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word);
      continue;
    }
    const [flag, attached] = splitAssignment(word);
    const option = findOption(flag, grammar);
    const isTaken = attached === undefined && option.value !== undefined;
    if (isTaken) i += 1;
    addValue(values, option, { flag, text: isTaken ? words[i] : attached });
  }
  return { values, positionals };
}

function splitAssignment(word: string): [string, string | undefined] {
  const equals = word.indexOf('=');
  if (equals === -1) return [word === '-h' ? '--help' : word, undefined];
  return [word.slice(0, equals), word.slice(equals + 1)];
}

function findOption(flag: string, { command, options }: Grammar): OptionSpec {
  const found = options.find(({ name }) => `--${name}` === flag);
  if (found) return found;
  const guess = nearest(
    flag,
    options.map(({ name }) => `--${name}`),
  );
  throw new PulseError('usage', `pulse ${command.name} has no option ${flag}.`, {
    hint: guess ? `Did you mean ${guess}?` : `pulse help ${command.name} shows its options.`,
  });
}

function addValue(
  values: Values,
  option: OptionSpec,
  { flag, text }: { flag: string; text: string | undefined },
): void {
  const known = values.get(option.name) ?? [];
  if (option.value === undefined) {
    if (text !== undefined) throw new PulseError('usage', `${flag} takes no value.`);
    values.set(option.name, [true]);
    return;
  }
  if (text === undefined) {
    throw new PulseError(
      'usage',
      `${flag} needs a value${option.placeholder ? `: ${flag} ${option.placeholder}` : ''}.`,
    );
  }
  if (known.length > 0 && !option.isRepeated) throw new PulseError('usage', `${flag} is given twice.`);
  values.set(option.name, [...known, readValue(option, { flag, text })]);
}

function readValue(option: OptionSpec, { flag, text }: { flag: string; text: string }): Value {
  const wrong = (expected: string): PulseError =>
    new PulseError('usage', `${flag} must be ${expected}, not "${text.slice(0, 100)}".`);
  if (option.choices && !option.choices.includes(text)) throw wrong(`one of ${option.choices.join(', ')}`);
  switch (option.value) {
    case 'integer': {
      const { least = 1 } = option;
      const number = /^\d{1,15}$/.test(text) ? Number(text) : -1;
      if (number < least) throw wrong(least === 0 ? 'a whole number' : 'a whole number above 0');
      return number;
    }
    case 'usd': {
      if (text === 'none') return null;
      const number = /^\d{1,12}(\.\d{1,12})?$/.test(text) ? Number(text) : 0;
      if (number <= 0) throw wrong('an amount above 0 such as 2.50, or none');
      return number;
    }
    case 'duration':
      return readDuration(text, { least: option.least, wrong });
    default:
      return text;
  }
}

function readDuration(
  text: string,
  { least, wrong }: { least?: 0; wrong: (expected: string) => PulseError },
): number {
  try {
    return parseDuration(text, { least });
  } catch (error) {
    if (isPulseError(error)) throw wrong('a duration such as 90s, 10m or 2h');
    throw error;
  }
}

function bindArguments(positionals: readonly string[], command: CommandSpec): Map<string, string[]> {
  const specs = command.arguments ?? [];
  const given = new Map<string, string[]>();
  for (const [index, spec] of specs.entries()) {
    const word = positionals[index];
    if (word === undefined) {
      if (spec.isOptional) continue;
      throw new PulseError('usage', `pulse ${command.name} needs ${spec.name}.`, {
        hint: command.examples?.[0] ?? `pulse help ${command.name}`,
      });
    }
    checkChoice(spec, word);
    given.set(spec.name, spec.isRepeated ? positionals.slice(index) : [word]);
  }
  if (positionals.length > specs.length && !specs.at(-1)?.isRepeated) throw tooMany(positionals, command);
  return given;
}

function checkChoice(spec: ArgumentSpec, word: string): void {
  if (!spec.choices || spec.choices.includes(word)) return;
  throw new PulseError(
    'usage',
    `${spec.name} must be one of ${spec.choices.join(', ')}, not "${word.slice(0, 100)}".`,
  );
}

function tooMany(positionals: readonly string[], command: CommandSpec): PulseError {
  const specs = command.arguments ?? [];
  const extra = positionals[specs.length]!.slice(0, 100);
  const isText = specs.at(-1)?.name === 'GOAL';
  const whole = positionals.join(' ').slice(0, 200).replaceAll('"', "'");
  return new PulseError('usage', `pulse ${command.name} does not know what to do with "${extra}".`, {
    hint: isText
      ? `Put the goal in quotes: pulse ${command.name} "${whole}"`
      : `pulse help ${command.name} shows how it is used.`,
  });
}

function createInput(values: Values, given: ReadonlyMap<string, string[]>): Input {
  const first = (option: string): Value | undefined => values.get(option)?.[0];
  return {
    has: (option) => values.has(option),
    text: (option) => first(option) as string | undefined,
    texts: (option) => values.get(option) as string[] | undefined,
    number: (option) => first(option) as number | undefined,
    usd: (option) => first(option) as number | null | undefined,
    argument: (name) => given.get(name)?.[0],
    words: (name) => given.get(name) ?? [],
  };
}
