/**
 * Whether two patterns have a path in common: the two are walked together, name by name and character by character. Each
 * pair of places is visited once, so the cost is at most the product of both lengths, and the answer is exact.
 */
import { doIntersect } from './character-set.ts';
import { literalPattern, type NamePattern, type PathPattern, type Reading } from './pattern.ts';

export function doOverlap(one: PathPattern, other: PathPattern): boolean {
  return one.readings.some((reading) => other.readings.some((with_) => readingsMeet(reading, with_)));
}

/**
 * Whether the pattern holds for this path, in which no character is a wildcard. A file may be called as the pattern is
 * written (`app/[id]/page.tsx`): then it was meant, too.
 */
export function coversPath({ text, readings }: PathPattern, path: string): boolean {
  if (text === path) return true;
  const literal = literalPattern(path);
  return readings.some((reading) => isBelow(reading, literal) || haveCommonPath(reading, literal));
}

function readingsMeet(one: Reading, other: Reading): boolean {
  return isBelow(one, other) || isBelow(other, one) || haveCommonPath(one, other);
}

/** A path without wildcards may be a folder's: then it stands for what is named below it. `src` keeps `src/*.ts`. */
function isBelow(folder: Reading, other: Reading): boolean {
  if (folder.length >= other.length) return false;
  return folder.every(
    (name, at) => name !== '**' && name.literal !== null && isNamed(other[at]!, name.literal),
  );
}

function isNamed(name: NamePattern | '**', literal: string): boolean {
  return name !== '**' && name.literal === literal;
}

function haveCommonPath(one: Reading, other: Reading): boolean {
  return meet(one, other, { isStar: (name) => name === '**', meets: namesMeet });
}

/** A name is never empty, and neither is what two names have in common: each has a part that takes a character. */
function namesMeet(one: NamePattern | '**', other: NamePattern | '**'): boolean {
  if (one === '**' || other === '**') return true;
  if (one.literal !== null && other.literal !== null) return one.literal === other.literal;
  return meet(one.parts, other.parts, {
    isStar: (part) => part === '*',
    meets: (a, b) => (a === '*' ? hasMembers(b) : b === '*' ? hasMembers(a) : doIntersect(a, b)),
  });
}

function hasMembers(part: NamePattern['parts'][number]): boolean {
  return part === '*' || part.length > 0;
}

interface Alphabet<T> {
  /** Stands for any number of steps, none too. */
  isStar(step: T): boolean;
  /** Whether both take a step in common. */
  meets(one: T, other: T): boolean;
}

/** Reachability in the product of two automata that only move forward. */
function meet<T>(one: readonly T[], other: readonly T[], alphabet: Alphabet<T>): boolean {
  const { isStar, meets } = alphabet;
  if (startApart(one, other, alphabet)) return false;
  const width = other.length + 1;
  const seen = new Uint8Array((one.length + 1) * width);
  seen[0] = 1;
  for (let at = 0; at <= one.length; at++) {
    for (let to = 0; to <= other.length; to++) {
      if (!seen[at * width + to]) continue;
      const [step, with_] = [one[at], other[to]];
      const stars = [step !== undefined && isStar(step), with_ !== undefined && isStar(with_)];
      if (stars[0]) seen[(at + 1) * width + to] = 1;
      if (stars[1]) seen[at * width + to + 1] = 1;
      if (step === undefined || with_ === undefined || !meets(step, with_)) continue;
      // A star takes the other's step and stays.
      seen[(stars[0] ? at : at + 1) * width + (stars[1] ? to : to + 1)] = 1;
    }
  }
  return seen[one.length * width + other.length] === 1;
}

/** Most patterns differ before the first star: then nothing else has to be looked at. */
function startApart<T>(one: readonly T[], other: readonly T[], { isStar, meets }: Alphabet<T>): boolean {
  for (let at = 0; ; at++) {
    const [step, with_] = [one[at], other[at]];
    if (step === undefined || with_ === undefined || isStar(step) || isStar(with_)) return false;
    if (!meets(step, with_)) return true;
  }
}
