import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { quoteWord } from '../domain/shell-words.ts';

/** A program for agents' shells, such as a `pulse` that is this very Pulse, even if another one is on the PATH. */
export async function writeShim(path: string, words: readonly string[]): Promise<void> {
  const command = [process.execPath, ...words].map(quoteWord).join(' ');
  const content = `#!/bin/sh\nexec ${command} "$@"\n`;
  if ((await readFile(path, 'utf8').catch(() => null)) === content) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Several sessions may begin at once, in this process too.
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, content);
  await chmod(draft, 0o755);
  await rename(draft, path);
}
