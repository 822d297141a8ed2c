import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { PulseError } from '../domain/errors.ts';
import { unreadable } from './unreadable.ts';

/** YAML holds JSON as well. `what` names it in an error. */
export async function readYamlFile(
  file: string,
  { cwd, what }: { cwd: string; what: string },
): Promise<unknown> {
  const path = resolve(cwd, file);
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw unreadable(`${what} ${path}`, cause);
  });
  try {
    return parse(text);
  } catch (cause) {
    throw new PulseError('invalid_input', `${path} is neither YAML nor JSON.`, {
      hint: String((cause as Error).message).split('\n')[0],
      cause,
    });
  }
}
