/**
 * A pattern over the paths of a repository: `*` and `?` stay within a name, `**` crosses folders, `[a]`, `[!a]` and
 * `{a,b}` as in a shell, hidden files are seen, case counts.
 */
import { PulseError } from '../../domain/errors.ts';
import { isStorable } from '../../domain/storable.ts';
import { MOST_IN_PATTERN } from '../bounds.ts';
import { ANY_CHARACTER, type CharacterSet, oneCharacter, parseClass } from './character-set.ts';

/** One way to read a pattern, name by name. */
export type Reading = readonly (NamePattern | '**')[];

export interface NamePattern {
  /** Of a name without wildcards. */
  literal: string | null;
  parts: readonly ('*' | CharacterSet)[];
}

export interface PathPattern {
  /** Relative to the top of the repository; as it is stored and shown. */
  text: string;
  readings: readonly Reading[];
}

/** Bounds for what has to be compared with each other while others wait. No file system has longer names. */
const MOST_IN_A_NAME = 255;
const MOST_READINGS = 64;
/** Of all readings together: braces multiply. */
const MOST_EXPANDED = 2_048;

/** `root`: the top of the repository, for absolute paths. Throws `invalid_input` or `path_outside`. */
export function parsePattern(given: string, root?: string): PathPattern {
  if (given.trim() === '') throw invalid(given, 'is empty');
  if (!isStorable(given)) throw invalid(given, 'contains NUL or broken Unicode');
  const relative = withoutRoot(given, root);
  if (relative.length > MOST_IN_PATTERN) throw invalid(given, `has more than ${MOST_IN_PATTERN} characters`);
  const expanded = expandBraces(relative);
  const size = expanded.reduce((sum, { length }) => sum + length, 0);
  if (expanded.length > MOST_READINGS || size > MOST_EXPANDED)
    throw invalid(given, 'has braces that stand for too many paths');
  const readings = expanded.map((text) => readNames(text, given));
  const text = expanded.length === 1 && expanded[0] === relative ? readings[0]!.text : tidy(relative);
  return { text, readings: readings.map(({ reading }) => reading) };
}

/** A path as it is: no character of it is a wildcard. */
export function literalPattern(path: string): Reading {
  return path.split('/').map(literalName);
}

function withoutRoot(given: string, root: string | undefined): string {
  if (!given.startsWith('/')) return given;
  if (root !== undefined && (given === root || given.startsWith(`${root}/`)))
    return given.slice(root.length).replace(/^\/+/, '') || '.';
  throw outside(given);
}

function readNames(text: string, given: string): { text: string; reading: Reading } {
  if (text.startsWith('/')) throw outside(given);
  const names: string[] = [];
  for (const name of text.split('/')) {
    if (name === '' || name === '.') continue;
    if (name.length > MOST_IN_A_NAME)
      throw invalid(given, `has a name of more than ${MOST_IN_A_NAME} characters`);
    if (name !== '..') names.push(name);
    // Where a wildcard was left again, nobody can say where that is.
    else if (names.length === 0 || hasWildcard(names.pop()!)) throw outside(given);
  }
  const isOpen = names.some(hasWildcard);
  // The top itself, or all below what the wildcards name.
  if (names.length === 0 || (isOpen && text.endsWith('/') && names.at(-1) !== '**')) names.push('**');
  const read = names.map((name) => (name === '**' ? name : parseName(name)));
  return { text: names.join('/'), reading: read };
}

function hasWildcard(name: string): boolean {
  return parseName(name).literal === null;
}

function literalName(name: string): NamePattern {
  return { literal: name, parts: [...name].map(oneCharacter) };
}

function parseName(name: string): NamePattern {
  const parts: ('*' | CharacterSet)[] = [];
  const characters = [...name];
  let isLiteral = true;
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    const end = character === '[' ? classEnd(characters, at) : -1;
    isLiteral &&= character !== '*' && character !== '?' && end < 0;
    if (character === '*') {
      if (parts.at(-1) !== '*') parts.push('*');
    } else if (character === '?') parts.push(ANY_CHARACTER);
    else if (end < 0) parts.push(oneCharacter(character));
    else {
      parts.push(parseClass(characters.slice(at + 1, end)));
      at = end;
    }
  }
  return { literal: isLiteral ? name : null, parts };
}

/** A bracket that is first in a class is its member: `[]a]`, `[!]a]`. */
function classEnd(characters: readonly string[], open: number): number {
  const isNegated = ['!', '^'].includes(characters[open + 1] ?? '');
  return characters.indexOf(']', open + (isNegated ? 3 : 2));
}

/** All that braces stand for; no more than can be refused. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0 && done.length + open.length <= MOST_READINGS) {
    const text = open.pop()!;
    const group = firstGroup(text);
    if (!group) done.push(text);
    else
      for (const choice of group.choices)
        open.push(text.slice(0, group.from) + choice + text.slice(group.to));
  }
  return [...done, ...open];
}

/** The first braces with a comma of their own; others are characters. */
function firstGroup(text: string): { from: number; to: number; choices: string[] } | null {
  for (let from = text.indexOf('{'); from >= 0; from = text.indexOf('{', from + 1)) {
    const group = readGroup(text, from);
    if (group && group.choices.length > 1) return { from, ...group };
  }
  return null;
}

function readGroup(text: string, from: number): { to: number; choices: string[] } | null {
  const choices: string[] = [];
  let depth = 0;
  let begin = from + 1;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '{') depth++;
    if (character === '}') depth--;
    const isSplit = depth === 0 || (depth === 1 && character === ',');
    if (!isSplit) continue;
    choices.push(text.slice(begin, at));
    begin = at + 1;
    if (depth === 0) return { to: begin, choices };
  }
  return null;
}

function tidy(text: string): string {
  return text.replace(/^(?:\.\/)+/, '').replace(/\/{2,}/g, '/');
}

function invalid(given: string, why: string): PulseError {
  return new PulseError('invalid_input', `The path "${given.slice(0, 100)}" ${why}.`, {
    hint: 'A path of the repository, or a pattern with * ? [a] [!a] {a,b} **.',
  });
}

function outside(given: string): PulseError {
  return new PulseError('path_outside', `"${given.slice(0, 100)}" lies outside of the repository.`, {
    hint: 'Name a file or a pattern of the repository.',
  });
}
