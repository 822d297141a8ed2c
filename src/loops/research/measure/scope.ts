/** Which files an experiment may change, and which decide about it and may not be touched. */
import { posix } from 'node:path';
import { globMatcher } from '../../../files/glob.ts';
import { type ShellWord, shellWords } from './shell-words.ts';

export interface Scope {
  inScope: readonly string[];
  readOnly: readonly string[];
  outOfScope: readonly string[];
}

export interface ScopeBreach {
  path: string;
  kind: 'pinned' | 'outside';
}

/** Pinned comes before outside: it is the graver name for the same change. */
export function scopeBreaches(
  changed: readonly string[],
  scope: Scope,
  pins: readonly string[],
): ScopeBreach[] {
  const isReadOnly = globMatcher(scope.readOnly);
  const isInScope = scopeMatcher(scope);
  const named = new Set(pins);
  return changed.flatMap((path): ScopeBreach[] => {
    if (named.has(path) || isReadOnly(path)) return [{ path, kind: 'pinned' }];
    return isInScope(path) ? [] : [{ path, kind: 'outside' }];
  });
}

/** For counting lines, too: only in-scope files count. */
export function scopeMatcher({
  inScope,
  outOfScope,
}: Pick<Scope, 'inScope' | 'outOfScope'>): (path: string) => boolean {
  const [isIn, isOut] = [globMatcher(inScope), globMatcher(outOfScope)];
  return (path) => isIn(path) && !isOut(path);
}

/** Tracked files that are read-only, and those the commands name and no inScope pattern matches; sorted. */
export function pinnedFiles(commands: readonly string[], tracked: readonly string[], scope: Scope): string[] {
  const [isReadOnly, isIn] = [globMatcher(scope.readOnly), globMatcher(scope.inScope)];
  const isNamed = namedMatcher(commands.flatMap(namedPaths));
  return tracked.filter((path) => isReadOnly(path) || (isNamed(path) && !isIn(path))).sort();
}

interface NamedPath {
  path: string;
  /** Only its end is known. */
  isEnd: boolean;
}

function namedPaths(command: string): NamedPath[] {
  const words = shellWords(command);
  const folders = ['', ...foldersEntered(words)];
  return words.flatMap((word, index) =>
    (isEntered(words, index) ? [] : partsOf(word)).flatMap((part) => {
      if (word.hasUnknownStart) return toNamed(part.replace(/^\/+/, ''), true);
      if (posix.isAbsolute(part)) return [];
      return folders.flatMap((folder) => toNamed(posix.join(folder, part), false));
    }),
  );
}

/** Where `cd` may have gone: a path may be meant from any of them. */
function foldersEntered(words: readonly ShellWord[]): string[] {
  let folder = '';
  return words.flatMap(({ text }, index) => {
    if (!isEntered(words, index) || posix.isAbsolute(text)) return [];
    folder = posix.join(folder, text);
    return [folder];
  });
}

function isEntered(words: readonly ShellWord[], index: number): boolean {
  const before = words[index - 1];
  return before?.text === 'cd' && before.isFirst;
}

/** `--config=path`, `NAME=path` and `@path` name the path too. */
function partsOf({ text }: ShellWord): string[] {
  const parts = [text, text.replace(/^@/, ''), text.slice(text.indexOf('=') + 1)];
  return [...new Set(parts)].filter((part) => part !== '' && !part.startsWith('-'));
}

function toNamed(path: string, isEnd: boolean): NamedPath[] {
  const clean = posix.normalize(path).replace(/\/+$/, '');
  return clean === '.' ? [] : [{ path: clean, isEnd }];
}

function namedMatcher(named: readonly NamedPath[]): (path: string) => boolean {
  const isMeant = globMatcher(named.map(({ path }) => path));
  const ends = named.filter(({ isEnd }) => isEnd).map(({ path }) => `/${path}`);
  return (path) => isMeant(path) || ends.some((end) => path.endsWith(end));
}
