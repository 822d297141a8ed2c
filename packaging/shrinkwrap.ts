/**
 * Run by `npm pack` and `npm publish`: writes npm-shrinkwrap.json, so that whoever installs Pulse gets the very
 * versions that were tested, each with its checksum, and not whatever its ranges allow that day. It is made from
 * package-lock.json and is no file of the repository: npm would take it for the lock of development as well.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

interface Lock {
  packages: Record<
    string,
    { dev?: boolean; integrity?: string; resolved?: string; devDependencies?: object }
  >;
}

/** The lock without what only development needs, and without the name of any registry: the user's own is asked. */
export function shrinkwrapOf(lock: Lock): Lock {
  const kept = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .map(([path, { resolved: _, ...entry }]) => {
      if (!entry.integrity) throw new Error(`${path} has no checksum in package-lock.json`);
      return [path, entry];
    });
  const { devDependencies: _, ...own } = lock.packages['']!;
  return { ...lock, packages: { '': own, ...Object.fromEntries(kept) } };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  writeFileSync('npm-shrinkwrap.json', `${JSON.stringify(shrinkwrapOf(lock), null, 2)}\n`);
}
