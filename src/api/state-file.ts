import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PulseError } from '../domain/errors.ts';
import type { Home } from '../home.ts';

/** What a client must show: made once, readable by its user alone. */
export function readToken({ token }: Home): Promise<string> {
  return readOrMake(token, () => randomBytes(32).toString('base64url'));
}

/** Names the `serve` of this state directory in the store, independent of the host's present name. */
export function readServeId({ serveId }: Home): Promise<string> {
  return readOrMake(serveId, randomUUID);
}

/** Several processes may come at once: all get what the first has written, whole. */
async function readOrMake(path: string, make: () => string): Promise<string> {
  const known = await read(path);
  if (known) return known;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, `${make()}\n`, { mode: 0o600, flag: 'wx' });
  try {
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  const made = await read(path);
  if (made) return made;
  throw new PulseError('invalid_config', `${path} is empty.`, { hint: 'Remove it; Pulse makes a new one.' });
}

async function read(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
