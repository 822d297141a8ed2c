/** Sets of characters as ranges of code points, sorted and apart: `[a-z]`, `[!a]`, `?`. */

/** From, to, from, to …, both included. */
export type CharacterSet = readonly number[];

const LAST = 0x10ffff;
const SLASH = 0x2f;

/** What one character of a name can be: all but the slash and NUL. */
export const ANY_CHARACTER: CharacterSet = [1, SLASH - 1, SLASH + 1, LAST];

export function oneCharacter(character: string): CharacterSet {
  const point = character.codePointAt(0)!;
  return [point, point];
}

/** The content between the brackets. A range that runs backwards has no members. */
export function parseClass(content: readonly string[]): CharacterSet {
  const isNegated = content[0] === '!' || content[0] === '^';
  const characters = content.slice(isNegated ? 1 : 0);
  const ranges: [number, number][] = [];
  for (let at = 0; at < characters.length; at++) {
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length;
    const from = characters[at]!.codePointAt(0)!;
    const to = characters[isRange ? at + 2 : at]!.codePointAt(0)!;
    if (from <= to) ranges.push([from, to]);
    if (isRange) at += 2;
  }
  const members = united(ranges);
  return intersect(isNegated ? complement(members) : members, ANY_CHARACTER);
}

export function doIntersect(one: CharacterSet, other: CharacterSet): boolean {
  for (let at = 0, to = 0; at < one.length && to < other.length; ) {
    if (Math.max(one[at]!, other[to]!) <= Math.min(one[at + 1]!, other[to + 1]!)) return true;
    if (one[at + 1]! < other[to + 1]!) at += 2;
    else to += 2;
  }
  return false;
}

function intersect(one: CharacterSet, other: CharacterSet): CharacterSet {
  const common: number[] = [];
  for (let at = 0, to = 0; at < one.length && to < other.length; ) {
    const from = Math.max(one[at]!, other[to]!);
    const until = Math.min(one[at + 1]!, other[to + 1]!);
    if (from <= until) common.push(from, until);
    if (one[at + 1]! < other[to + 1]!) at += 2;
    else to += 2;
  }
  return common;
}

function united(ranges: [number, number][]): CharacterSet {
  const set: number[] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = set.at(-1);
    if (last !== undefined && from <= last + 1) set[set.length - 1] = Math.max(last, to);
    else set.push(from, to);
  }
  return set;
}

function complement(set: CharacterSet): CharacterSet {
  const rest: number[] = [];
  let next = 0;
  for (let at = 0; at < set.length; at += 2) {
    if (next < set[at]!) rest.push(next, set[at]! - 1);
    next = set[at + 1]! + 1;
  }
  return next <= LAST ? [...rest, next, LAST] : rest;
}
