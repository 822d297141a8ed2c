/** Whether what a test did not find is the code that its bead is there to write. Pure. */
import { coversPath, doOverlap } from '../../../coordination/reservations/overlap.ts';
import { type PathPattern, parsePattern } from '../../../coordination/reservations/pattern.ts';
import type { MissingCode } from '../../../referee/output/missing-code.ts';

export interface UnwrittenQuery {
  /** The bead's. */
  files: readonly string[];
  /** The files of the tree that the test was run on. */
  paths: ReadonlySet<string>;
  /** Those of the finished work, where there is one: by then the code has been written. */
  written?: ReadonlySet<string>;
  isTest(path: string): boolean;
}

const BELOW = '/**';
/** Folders from which Python imports, beside those that the bead's own files show. */
const USUAL_ROOTS = ['', 'src/', 'lib/'];

/** A module or an export within the bead's `files` that is not there yet. A test, or a package of others, is none. */
export function isUnwritten(missing: MissingCode, query: UnwrittenQuery): boolean {
  const patterns = query.files.map((file) => parsePattern(file));
  const places = missing.isBelowSomeRoot
    ? rootsOf(patterns)
        .filter((root) => holdsPackage(root, missing, query.paths))
        .flatMap((root) => missing.places.map((place) => `${root}${place}`))
    : missing.places;
  const own = places.filter((place) => !query.isTest(place) && isCovered(place, patterns));
  const isThere = ({ paths }: { paths: ReadonlySet<string> }) => own.some((place) => exists(place, paths));
  if (missing.what === 'export')
    return isThere(query) || (missing.orModule !== undefined && isUnwritten(missing.orModule, query));
  if (places.some((place) => exists(place, query.paths))) return false;
  return own.length > 0 && (query.written === undefined || isThere({ paths: query.written }));
}

/** Every folder on the way to what the bead may change. */
function rootsOf(patterns: readonly PathPattern[]): string[] {
  const roots = new Set(USUAL_ROOTS);
  for (const { text } of patterns) {
    const names = text.split('/');
    const open = names.findIndex((name) => /[*?[{]/.test(name));
    const folders = names.slice(0, open === -1 ? names.length - 1 : open);
    folders.forEach((_, at) => void roots.add(`${folders.slice(0, at + 1).join('/')}/`));
  }
  return [...roots];
}

/** Python names what it did not find: the packages before the last dot were found. */
function holdsPackage(root: string, { name }: MissingCode, paths: ReadonlySet<string>): boolean {
  const around = name.split('.').slice(0, -1).join('/');
  return around === '' || exists(`${root}${around}${BELOW}`, paths);
}

function isCovered(place: string, patterns: readonly PathPattern[]): boolean {
  if (!place.endsWith(BELOW)) return patterns.some((pattern) => coversPath(pattern, place));
  const below = parsePattern(place);
  return patterns.some((pattern) => doOverlap(pattern, below));
}

function exists(place: string, paths: ReadonlySet<string>): boolean {
  if (!place.endsWith(BELOW)) return paths.has(place);
  const folder = place.slice(0, -BELOW.length + 1);
  for (const path of paths) if (path.startsWith(folder)) return true;
  return false;
}
