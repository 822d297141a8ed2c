/**
 * Patterns over paths of a repository. Unlike `path.matchesGlob` it sees hidden files: a read-only `test/**` must hold
 * for `test/.fixture` too. `*` and `?` stay within a name, `**` crosses folders, `[…]` and `{a,b}` as in a shell; a
 * pattern that names a folder stands for all below it; a path matches itself, with any characters.
 */

const MAX_ALTERNATIVES = 256;

/** Whether a path matches any of the patterns. Made once, asked often. */
export function globMatcher(patterns: readonly string[]): (path: string) => boolean {
  const clean = patterns.map(tidy).filter((pattern) => pattern !== '');
  const compiled = clean.filter(hasWildcard).flatMap((pattern) => expandBraces(pattern).map(compile));
  return (path) =>
    clean.some((pattern) => path === pattern || path.startsWith(`${pattern}/`)) ||
    compiled.some((names) => matchesNames(path.split('/'), names));
}

function hasWildcard(text: string): boolean {
  return /[*?[{]/.test(text);
}

type Name = '**' | ((text: string) => boolean);

function compile(pattern: string): Name[] {
  return pattern.split('/').map((name) => (name === '**' ? name : nameMatcher(name)));
}

/** Which prefixes of the pattern can reach here, path name by path name: no backtracking. */
function matchesNames(path: readonly string[], names: readonly Name[]): boolean {
  let reached = closure(new Set([0]), names);
  for (const part of path) {
    const next = new Set<number>();
    for (const index of reached) {
      const name = names[index];
      if (name === '**') next.add(index);
      else if (name?.(part)) next.add(index + 1);
    }
    reached = closure(next, names);
  }
  return reached.has(names.length);
}

/** `**` may stand for no folder at all. */
function closure(indexes: Set<number>, names: readonly Name[]): Set<number> {
  for (const index of indexes) if (names[index] === '**') indexes.add(index + 1);
  return indexes;
}

/** A star, or what one character must be. */
type Part = '*' | ((character: string) => boolean);

function nameMatcher(name: string): (text: string) => boolean {
  const parts: Part[] = [];
  const characters = [...name];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === '*') {
      if (parts.at(-1) !== '*') parts.push('*');
    } else if (character === '?') parts.push(() => true);
    else {
      const end = character === '[' ? characters.indexOf(']', at + 2) : -1;
      if (end < 0) parts.push((one) => one === character);
      else {
        parts.push(characterClass(characters.slice(at + 1, end)));
        at = end;
      }
    }
  }
  return (text) => matchesParts([...text], parts);
}

/**
 * Only the last star is ever taken back, by one character at a time: what an earlier one took is never better changed.
 * So a name of n characters costs at most n times the length of the pattern.
 */
function matchesParts(text: readonly string[], parts: readonly Part[]): boolean {
  let [at, part, star, starAt] = [0, 0, -1, 0];
  while (at < text.length) {
    const wanted = parts[part];
    if (wanted === '*') {
      star = part++;
      starAt = at;
    } else if (wanted?.(text[at]!)) {
      at++;
      part++;
    } else if (star >= 0) {
      part = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (parts[part] === '*') part++;
  return part === parts.length;
}

function characterClass(content: readonly string[]): (character: string) => boolean {
  const isNegated = content[0] === '!' || content[0] === '^';
  const characters = content.slice(isNegated ? 1 : 0);
  const ranges: [number, number][] = [];
  for (let at = 0; at < characters.length; at++) {
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length;
    const [from, to] = [characters[at]!, characters[isRange ? at + 2 : at]!].map(
      (one) => one.codePointAt(0)!,
    );
    // A range that runs backwards has no members.
    ranges.push([from!, to!]);
    if (isRange) at += 2;
  }
  return (character) => {
    const point = character.codePointAt(0)!;
    return ranges.some(([from, to]) => from <= point && point <= to) !== isNegated;
  };
}

/** Never more than a fixed number of alternatives, however many braces multiply. */
function expandBraces(pattern: string): string[] {
  let [open, done]: [string[], string[]] = [[pattern], []];
  while (open.length > 0 && open.length + done.length <= MAX_ALTERNATIVES) {
    const next = open.map(expandFirst);
    done = [...done, ...next.flatMap((made) => (made.length === 1 ? made : []))];
    open = next.flatMap((made) => (made.length === 1 ? [] : made));
  }
  return [...done, ...open];
}

function expandFirst(pattern: string): string[] {
  const open = pattern.indexOf('{');
  const close = open < 0 ? -1 : closingBrace(pattern, open);
  if (close < 0) return [pattern];
  const choices = splitOutsideBraces(pattern.slice(open + 1, close));
  return choices.map((choice) => pattern.slice(0, open) + choice + pattern.slice(close + 1));
}

function closingBrace(pattern: string, open: number): number {
  let depth = 0;
  for (let at = open; at < pattern.length; at++) {
    if (pattern[at] === '{') depth++;
    if (pattern[at] === '}' && --depth === 0) return at;
  }
  return -1;
}

function splitOutsideBraces(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}

function tidy(pattern: string): string {
  return pattern
    .replace(/^(?:\.\/)+/, '')
    .replace(/\/+$/, '')
    .replace(/\/{2,}/g, '/');
}
