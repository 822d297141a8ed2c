import { resolve } from 'node:path';
import type { CommandContext } from '../../cli/command-spec.ts';
import { PulseError } from '../../domain/errors.ts';

/** The project that a command is about: the one in whose repository one stands, or that of `--path`. */
export function projectHere({ input, cwd }: CommandContext): string {
  return resolve(cwd, input.text('path') ?? '.');
}

/** Throws `usage`: the command cannot do without it. */
export function requireOption({ input }: CommandContext, name: string): string {
  const given = input.text(name);
  if (given !== undefined) return given;
  throw new PulseError('usage', `--${name} is missing.`, { hint: 'pulse help shows how a command is used.' });
}
