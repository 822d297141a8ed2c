/** What setup made may name the folder that it was made in. A copy of it elsewhere would lead back there. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readTextOrNullSync } from '../../files/regular-file.ts';

/** Where installers write absolute paths: launchers, environments, editable installs, build caches. */
const NAMING =
  /^__editable__|\.(?:pth|egg-link|la|pc|cmake|ninja)$|^(?:pyvenv\.cfg|direct_url\.json|\.modules\.yaml|\.yarn-state\.yml|CMakeCache\.txt|config\.status|Makefile)$/;
const LAUNCHERS = /^(?:\.?bin|Scripts)$/;
const LONGEST = 1024 * 1024;

/** The first entry below the names that leads to `checkout` by its absolute path; `null`: none does. */
export function findOwnPath(checkout: string, names: readonly string[]): string | null {
  const open = [...names];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const full = join(checkout, path);
    const entry = lstatSync(full, { throwIfNoEntry: false });
    if (entry?.isDirectory()) {
      // One by one: a call takes no more than about a hundred thousand arguments.
      for (const name of readdirSync(full)) open.push(`${path}/${name}`);
    } else if (entry?.isSymbolicLink() && leadsInto(checkout, full)) return path;
    else if (entry?.isFile() && mayName(path) && holdsText(full, checkout)) return path;
  }
  return null;
}

function leadsInto(checkout: string, link: string): boolean {
  const target = readlinkSync(link);
  return target.startsWith('/') && `${resolve(target)}/`.startsWith(`${checkout}/`);
}

function mayName(path: string): boolean {
  return NAMING.test(basename(path)) || LAUNCHERS.test(basename(dirname(path)));
}

function holdsText(path: string, text: string): boolean {
  return readTextOrNullSync(path, { maxBytes: LONGEST })?.includes(text) ?? false;
}
