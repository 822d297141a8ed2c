/** An archive of a registry, unpacked; what the package says about itself. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAllowedExpression, licenceOfCopyright } from './licences.ts';
import type { Package } from './packages.ts';

/** `null` where the licence is not one that may be learnt from. */
export function unpack(archive: string, folder: string): Package | null {
  return archive.endsWith('.deb') ? unpackDebian(archive, folder) : unpackNpm(archive, folder);
}

function unpackDebian(archive: string, folder: string): Package | null {
  execFileSync('dpkg-deb', ['-x', archive, folder]);
  const field = (name: string) =>
    execFileSync('dpkg-deb', ['-f', archive, name], { encoding: 'utf8' }).trim();
  const name = field('Package');
  const copyright = join(folder, 'usr/share/doc', name, 'copyright');
  const licence = existsSync(copyright) ? licenceOfCopyright(readFileSync(copyright, 'utf8')) : null;
  if (!licence) return null;
  const project = field('Source').split(' ')[0] || name;
  return { registry: 'debian', name, version: field('Version'), licence, project };
}

function unpackNpm(archive: string, folder: string): Package | null {
  const left = ['--exclude=*.map', '--exclude=*.min.*'];
  execFileSync('tar', ['-xzf', archive, '-C', folder, ...left, '--strip-components=1', '--no-same-owner'], {
    stdio: 'ignore',
  });
  const { name, version, license, repository } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as { name: string; version: string; license?: unknown; repository?: unknown };
  const licence = typeof license === 'string' ? license : '';
  if (!isAllowedExpression(licence)) return null;
  const url = (repository as { url?: unknown } | null)?.url ?? repository;
  const project = typeof url === 'string' ? /([^/:]+\/[^/]+?)(?:\.git)?(?:#.*)?$/.exec(url)?.[1] : null;
  return { registry: 'npm', name, version, licence, project: project ?? name };
}
