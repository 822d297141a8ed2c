import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A PATH with the programs of the machine that tests need, and with this shell script in the place of bubblewrap. */
export function pathWithBwrap(folder: string, bwrap: string | null): string {
  const path = join(folder, 'programs');
  mkdirSync(path);
  for (const name of ['git', 'sh', 'cat', 'touch', 'ls']) symlinkSync(programOf(name), join(path, name));
  if (bwrap !== null) writeFileSync(join(path, 'bwrap'), `#!/bin/sh\n${bwrap}\n`, { mode: 0o755 });
  return path;
}

function programOf(name: string): string {
  return execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
}
