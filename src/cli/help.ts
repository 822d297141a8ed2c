import type { Style } from '../terminal/style.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';
import { COMMON_OPTIONS } from './parser.ts';

const GROUPS = ['Run', 'Look', 'Steer', 'Finish', 'Coordinate', 'Account', 'Set up', 'For agents'] as const;

/** `pulse help`. */
export function overview(commands: readonly CommandSpec[], style: Style): string {
  const lines = [
    `${style.bold('pulse')}: runs coding agents in loops until the work is really done, and makes them account for it.`,
    '',
    `${style.dim('usage')}  pulse COMMAND [ARGUMENTS] [OPTIONS]`,
  ];
  for (const group of GROUPS) {
    const members = commands.filter((command) => command.group === group && !command.isHidden);
    if (members.length === 0) continue;
    lines.push('', style.bold(group));
    for (const { name, summary } of members) lines.push(`  ${style.cyan(name.padEnd(11))} ${summary}`);
  }
  lines.push(
    '',
    style.bold('Examples'),
    '  pulse init',
    '  pulse start "Implement user auth" --verify "npm test"',
    '  pulse resume 3f2c --answer "Use bcrypt."',
    '',
    style.dim('pulse help COMMAND shows its options. --json everywhere prints JSON on stdout.'),
  );
  return lines.join('\n');
}

/** `pulse help COMMAND`. */
export function commandHelp(command: CommandSpec, style: Style): string {
  const lines = [`${style.bold(`pulse ${command.name}`)}: ${command.summary}`, '', usage(command, style)];
  if (command.details) lines.push('', ...command.details.split('\n').flatMap((line) => wrap(line, 96)));
  const named = command.arguments ?? [];
  if (named.length > 0) {
    lines.push('', style.bold('Arguments'), ...named.map(({ name, help }) => row(name, help, style)));
  }
  const options = [...(command.options ?? []), ...COMMON_OPTIONS];
  lines.push(
    '',
    style.bold('Options'),
    ...options.map((option) => row(optionLabel(option), describe(option), style)),
  );
  if (command.examples) {
    lines.push('', style.bold('Examples'), ...command.examples.map((example) => `  ${example}`));
  }
  return lines.join('\n');
}

function usage(command: CommandSpec, style: Style): string {
  const words = (command.arguments ?? []).map(({ name, isOptional, isRepeated }) => {
    const word = isRepeated ? `${name}…` : name;
    return isOptional ? `[${word}]` : word;
  });
  const tail = command.options ? ['[OPTIONS]'] : [];
  return `${style.dim('usage')}  ${['pulse', command.name, ...words, ...tail].join(' ')}`;
}

function optionLabel({ name, value, placeholder }: OptionSpec): string {
  return value === undefined ? `--${name}` : `--${name} ${placeholder ?? 'VALUE'}`;
}

function describe({ help, choices }: OptionSpec): string {
  return choices && !choices.some((choice) => help.includes(choice))
    ? `${help} ${choices.join(', ')}.`
    : help;
}

function row(label: string, help: string, style: Style): string {
  return `  ${style.cyan(label.padEnd(24))} ${help}`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!;
    if (last !== '' && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
