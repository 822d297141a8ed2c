/** Finding the file to start, so that a missing one is known before anything runs. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

/** Why a process could not be started: `ENOENT`, `EACCES`, `E2BIG`, … and a sentence. */
export interface SpawnError {
  code: string;
  message: string;
}

/** The path of `file`, looked up in `path` unless it holds a slash; the reason when it cannot be started. */
export function findExecutable(options: {
  file: string;
  cwd: string;
  path: string | undefined;
}): string | SpawnError {
  const { file, cwd } = options;
  if (!isDirectory(cwd)) return { code: 'ENOENT', message: `the working directory ${cwd} does not exist` };
  const folders = (options.path ?? '/usr/local/bin:/usr/bin:/bin').split(':');
  const candidates = file.includes('/')
    ? [resolve(cwd, file)]
    : folders.map((dir) => join(resolve(cwd, dir), file));
  let denied: string | null = null;
  for (const candidate of candidates) {
    const code = startability(candidate);
    if (code === 'ok') return interpreterProblem(candidate) ?? candidate;
    if (code === 'EACCES') denied ??= candidate;
  }
  if (denied !== null) return { code: 'EACCES', message: `${denied} may not be executed` };
  return { code: 'ENOENT', message: `${file} was not found${file.includes('/') ? '' : ' in PATH'}` };
}

/** The kernel says just "not found" when a script's `#!` line names a program that is not there. */
function interpreterProblem(path: string): SpawnError | null {
  const interpreter = /^#![ \t]*(\/[^\s\0]+)/.exec(firstBytes(path))?.[1];
  if (interpreter === undefined || existsSync(interpreter)) return null;
  return { code: 'ENOENT', message: `${path} needs ${interpreter}, which does not exist` };
}

function firstBytes(path: string): string {
  const bytes = Buffer.alloc(256);
  try {
    const descriptor = openSync(path, 'r');
    const count = readSync(descriptor, bytes);
    closeSync(descriptor);
    return bytes.toString('latin1', 0, count);
  } catch {
    return ''; // executable but not readable: then it is no script
  }
}

function startability(path: string): 'ok' | 'ENOENT' | 'EACCES' {
  const stat = statOrNull(path);
  if (stat === null) return 'ENOENT';
  if (!stat.isFile()) return 'EACCES';
  try {
    accessSync(path, constants.X_OK);
    return 'ok';
  } catch {
    return 'EACCES';
  }
}

function isDirectory(path: string): boolean {
  return statOrNull(path)?.isDirectory() ?? false;
}

/** A folder of the PATH that may not be looked into holds nothing, as for a shell. */
function statOrNull(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (['EACCES', 'ELOOP', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return null;
    throw error;
  }
}
