/** What is published beside the code: a lock of its own, for whoever installs it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { shrinkwrapOf } from '../packaging/shrinkwrap.ts';

const ROOT = join(import.meta.dirname, '..');
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

interface Entry {
  version: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  devDependencies?: object;
}
const packages = shrinkwrapOf(lock).packages as unknown as Record<string, Entry>;

/** Where Node.js would find it, from inside the package at `from`. */
function found(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === '') return undefined;
  }
}

it('the shrinkwrap has every package that runs, with its checksum, and nothing of development', () => {
  const { '': own, ...others } = packages;
  expect(own!.dependencies).toEqual(manifest.dependencies);
  expect(own!.devDependencies).toBeUndefined();
  for (const [path, entry] of Object.entries(others))
    expect([path, entry.integrity]).toEqual([path, expect.stringMatching(/^sha512-/)]);
  for (const [path, { dependencies = {} }] of Object.entries(packages)) {
    for (const name of Object.keys(dependencies))
      expect([path, name, found(name, path)]).toEqual([path, name, expect.any(String)]);
  }
  for (const name of Object.keys(manifest.devDependencies))
    expect(packages[`node_modules/${name}`]).toBeUndefined();
});

it('names no registry', () => {
  expect(
    JSON.stringify(
      shrinkwrapOf({
        ...lock,
        packages: {
          ...lock.packages,
          'node_modules/x': {
            version: '1.0.0',
            integrity: 'sha512-x',
            resolved: 'https://registry.example/x.tgz',
          },
        },
      }),
    ),
  ).not.toMatch(/"resolved"|registry\.example/);
});

it('a package without a checksum is not published', () => {
  const spoiled = { ...lock, packages: { ...lock.packages, 'node_modules/x': { version: '1.0.0' } } };
  expect(() => shrinkwrapOf(spoiled)).toThrow('node_modules/x has no checksum');
});

it('is among the files that are packed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-pack-'));
  try {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/pulse.js'), '');
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    execFileSync(process.execPath, [join(ROOT, 'packaging/shrinkwrap.ts')], { cwd: folder });
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const answer = JSON.parse(listed);
    const [packed] = (Array.isArray(answer) ? answer : Object.values(answer)) as {
      files: { path: string }[];
    }[];
    const paths = packed!.files.map(({ path }) => path);
    expect(paths).toContain('npm-shrinkwrap.json');
    expect(paths).not.toContain('package-lock.json');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
