/** An operation as a command: its fields are the words and options after it. */
import { PulseError } from '../domain/errors.ts';
import type { Field, Fields, InputOf } from '../operations/fields.ts';
import { fieldsOn } from '../operations/fields.ts';
import type { Definition } from '../operations/operation.ts';
import type { ArgumentSpec, CommandContext, CommandSpec, OptionSpec, ValueKind } from './command-spec.ts';
import type { Input } from './parser.ts';

type Described = Pick<CommandSpec, 'name' | 'summary' | 'arguments' | 'options' | 'isPersonOnly'>;

/** What the table says of a command; how it is run is told beside it. */
export function describeCommand({ name, summary, access, fields }: Definition): Described {
  const options = fieldsOn(fields, 'cli').flatMap(([, field]) => optionsOf(field));
  return {
    name,
    summary,
    arguments: argumentsOf(fields),
    options: options.length === 0 ? undefined : options,
    isPersonOnly: access === 'person',
  };
}

/** The options of several actions of one command, each with the actions that take it. */
export function describeActions(actions: Readonly<Record<string, Definition>>): OptionSpec[] {
  const options = new Map<string, { option: OptionSpec; texts: Map<string, string[]> }>();
  for (const [action, { fields }] of Object.entries(actions)) {
    for (const option of fieldsOn(fields, 'cli').flatMap(([, field]) => optionsOf(field))) {
      const known = options.get(option.name) ?? { option, texts: new Map() };
      known.texts.set(option.help, [...(known.texts.get(option.help) ?? []), action]);
      options.set(option.name, known);
    }
  }
  return [...options.values()].map(({ option, texts }) => ({
    ...option,
    help: [...texts].map(([help, takers]) => `${takers.join(', ')}: ${help}`).join(' '),
  }));
}

function argumentsOf(fields: Fields): ArgumentSpec[] {
  return fieldsOn(fields, 'cli').flatMap(([, { argument, kind, help }]) => {
    if (argument === undefined) return [];
    return kind === 'id'
      ? [{ name: argument, isSession: () => true, help: `${help.slice(0, -1)}, or last.` }]
      : [{ name: argument, help: `${help.slice(0, -1)}, in quotes.` }];
  });
}

const VALUES: Partial<Record<Field['kind'], ValueKind>> = {
  integer: 'integer',
  usd: 'usd',
  duration: 'duration',
};

function optionsOf({ kind, option, switches, choices, help, min }: Field): OptionSpec[] {
  if (switches) return Object.entries(switches).map(([name, text]) => ({ name, help: text }));
  if (option === undefined) return [];
  const [name = '', placeholder] = option.split(' ');
  if (kind === 'flag') return [{ name, help }];
  if (kind === 'path')
    return [{ name, value: 'text', placeholder, help: `${help.slice(0, -1)} (default: here).` }];
  const value = VALUES[kind] ?? 'text';
  const least = (kind === 'integer' || kind === 'duration') && min === 0 ? ({ least: 0 } as const) : {};
  const spec = { name, value, placeholder, ...least, ...(choices ? { choices } : {}) };
  return [
    kind === 'texts' ? { ...spec, isRepeated: true, help: `${help} May be repeated.` } : { ...spec, help },
  ];
}

/** What was given of the operation's fields. `given`: what the command has found out by itself. */
export async function readInput<F extends Fields, G extends Partial<InputOf<F>>>(
  { name, fields }: Definition<F>,
  context: Pick<CommandContext, 'input' | 'cwd'>,
  given: G,
): Promise<InputOf<F> & G> {
  const values: Record<string, unknown> = {};
  for (const [key, field] of fieldsOn(fields, 'cli')) {
    const value = key in given ? undefined : await readField(field, name, context);
    if (value !== undefined) values[key] = value;
  }
  return { ...values, ...given } as InputOf<F> & G;
}

async function readField(
  field: Field,
  command: string,
  { input, cwd }: Pick<CommandContext, 'input' | 'cwd'>,
): Promise<unknown> {
  const { kind, argument, switches } = field;
  if (argument !== undefined) return input.argument(argument);
  if (switches) return readSwitches(field, command, input);
  const option = field.option?.split(' ')[0];
  if (option === undefined) return undefined;
  switch (kind) {
    case 'flag':
      return input.has(option) || undefined;
    case 'texts':
      return input.texts(option);
    case 'usd':
      return input.usd(option);
    case 'integer':
    case 'duration':
      return input.number(option);
    case 'path':
      return input.text(option) ?? cwd;
    case 'object': {
      const file = input.text(option);
      if (file === undefined) return undefined;
      const { readYamlFile } = await import('./read-yaml.ts');
      return readYamlFile(file, { cwd, what: `The ${option}` });
    }
    default:
      return input.text(option);
  }
}

function readSwitches(
  { kind, switches = {}, isRequired, help }: Field,
  command: string,
  input: Input,
): unknown {
  const names = Object.keys(switches);
  const [given, another] = names.filter((name) => input.has(name));
  if (given === undefined && !isRequired) return undefined;
  if (given === undefined || another !== undefined) {
    const all = names.map((name) => `--${name}`).join(', ');
    throw new PulseError('usage', `pulse ${command} needs one of ${all}.`, { hint: help });
  }
  return kind === 'flag' ? given === names[0] : given;
}
