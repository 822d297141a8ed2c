/** The command line's one entrance: parse, load the command's module, run it, turn its end into an exit code. */
import { asPulseError, type PulseError } from '../domain/errors.ts';
import { redact, redactJson } from '../domain/redact.ts';
import type { CommandSpec, MorePulse } from './command-spec.ts';
import { COMMANDS } from './commands.ts';
import { createOutput, type Output } from './output.ts';
import { asksForJson, findCommand, parseCommand } from './parser.ts';
import { refuseInsideRun } from './person-only.ts';

export interface Invocation {
  argv: string[];
  /** The path of bin/pulse.js. */
  program: string;
  /** For a program that has more loops than Pulse: their commands, and what its sessions need. */
  commands?: readonly CommandSpec[];
  pulse?: MorePulse;
}

export async function main(invocation: Invocation): Promise<void> {
  const { argv } = invocation;
  const environment = process.env;
  const output = createOutput({ isJson: asksForJson(argv), environment });
  leaveQuietlyWithoutReader();
  const exitCode = await execute({ ...invocation, output, environment }).catch((error: unknown) =>
    report(output, asPulseError(error), argv),
  );
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(exitCode);
}

async function execute(
  call: Invocation & { output: Output; environment: NodeJS.ProcessEnv },
): Promise<number> {
  const { argv, program, output, environment, pulse, commands = [] } = call;
  const all = [...COMMANDS, ...commands];
  if (isHelp(argv)) return help(argv, { output, all });
  const { command, input, isHelp: wantsHelp } = parseCommand(argv, all);
  if (wantsHelp) return help(['help', command.name], { output, all });
  if (command.isPersonOnly) refuseInsideRun(command.name, environment);
  const { run } = await command.load();
  const cwd = process.cwd();
  // Loaded when it is needed: most commands must answer at once.
  const named = argv.includes('last')
    ? await (await import('./last-session.ts')).withLastSession(command, { input, environment, cwd })
    : input;
  return run({ input: named, output, environment, cwd, program, pulse });
}

function isHelp([first]: readonly string[]): boolean {
  return first === undefined || first === 'help' || first === '--help' || first === '-h';
}

async function help(
  [, name]: readonly string[],
  { output, all }: { output: Output; all: readonly CommandSpec[] },
): Promise<number> {
  const { commandHelp, overview } = await import('./help.ts');
  const { style } = output.stdout;
  const isNamed = name !== undefined && !name.startsWith('-');
  output.data(isNamed ? commandHelp(findCommand(name, all), style) : overview(all, style));
  return 0;
}

function report(output: Output, error: PulseError, [command]: readonly string[]): number {
  const { style } = output.stderr;
  const hint = error.hint ?? (error.exitCode === 2 ? usageHint(command) : null);
  output.talk(`${style.red('error:')} ${redact(error.message)}`);
  if (hint) output.talk(`${style.cyan('hint:')} ${hint}`);
  if (error.code === 'internal_error' && process.env.PULSE_DEBUG)
    output.talk(redact(String((error.cause as Error)?.stack)));
  if (output.isJson) output.json({ error: redactJson({ ...error.toJSON(), hint }) });
  return error.exitCode;
}

/** For what was wrong with the words alone: where they are explained. */
function usageHint(command: string | undefined): string {
  const isKnown = COMMANDS.some(({ name, isHidden }) => name === command && !isHidden);
  return isKnown ? `pulse help ${command} shows how it is used.` : 'pulse help shows what there is.';
}

/** `pulse list | head -1` ends without a word, and a closed terminal does not crash the program that writes to it. */
function leaveQuietlyWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || error.code === 'EIO') process.exit(0);
      throw error;
    });
  }
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}
