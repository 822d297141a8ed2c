/** What should be done: the words on the command line, and those of a file. An issue is read when the session starts. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandContext } from '../../../cli/command-spec.ts';
import { readStdin } from '../../../cli/stdin.ts';
import { unreadable } from '../../../cli/unreadable.ts';
import { PulseError } from '../../../domain/errors.ts';
import { readRegularFile } from '../../../files/regular-file.ts';

/** Longer than a goal may be, so that the error can say by how much it is too long. */
const maxBytes = 1024 * 1024;

export async function readGoal({ input, cwd }: CommandContext): Promise<{ goal: string; from?: string }> {
  const words = input.argument('GOAL');
  const file = input.text('from');
  if (words === undefined && file === undefined && input.text('issue') === undefined) {
    throw new PulseError('usage', 'pulse start needs GOAL, --issue N|URL or --from FILE.', {
      hint: 'pulse start "what should be done"',
    });
  }
  if (file === undefined) return { goal: words ?? '' };
  const path = file === '-' ? '-' : resolve(cwd, file);
  const text = path === '-' ? await readStdin() : await readText(path);
  if (text.trim() === '') throw new PulseError('usage', `${path} says nothing.`);
  return { goal: [words, text.trim()].filter(Boolean).join('\n\n'), from: path };
}

async function readText(path: string): Promise<string> {
  try {
    return (await readRegularFile(await realpath(path), { maxBytes })).toString('utf8');
  } catch (cause) {
    throw unreadable(path, cause as NodeJS.ErrnoException);
  }
}
