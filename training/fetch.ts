/** `node training/fetch.ts INTO [ROLE]`: brings the archives of `packages.tsv` from npm and Debian, by name and version. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Listed, readList } from './packages.ts';

const [into = '', role] = process.argv.slice(2);
const A_CALL = 50;

const wanted = readList().filter((each) => !role || each.role === role);
for (const registry of ['npm', 'debian'] as const) {
  const folder = join(into, registry);
  mkdirSync(folder, { recursive: true });
  const packages = wanted.filter((each) => each.registry === registry);
  for (let at = 0; at < packages.length; at += A_CALL) fetch(folder, packages.slice(at, at + A_CALL));
}

/** A version that is no longer there fails alone; the others still come. */
function fetch(folder: string, packages: readonly Listed[]): void {
  const [first] = packages;
  const file = first?.registry === 'npm' ? 'npm' : 'apt-get';
  const args = first?.registry === 'npm' ? ['pack', '--silent'] : ['download', '-qq'];
  const names = packages.map(
    ({ registry, name, version }) => `${name}${registry === 'npm' ? '@' : '='}${version}`,
  );
  try {
    execFileSync(file, [...args, ...names], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    if (packages.length === 1) process.stderr.write(`${names[0]} could not be fetched\n`);
    else for (const each of packages) fetch(folder, [each]);
  }
}
