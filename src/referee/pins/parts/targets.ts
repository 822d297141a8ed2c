/**
 * Targets of a Makefile or recipes of a justfile: those that a check reaches are protected, and all that is no plain
 * rule, because settings and variables change what any of them means.
 */
import { createPart, type Part } from './part.ts';

export interface Block {
  text: string;
  /** What a plain rule makes; `null` for all else. */
  names: readonly string[] | null;
  /** What it needs first; `null`: only the tool itself could say. */
  needs: readonly string[] | null;
  /** Its commands. */
  body: string;
}

export interface Rules {
  /** `null`: the file cannot be cut with certainty. */
  cut(text: string): Block[] | null;
}

/** All that the goals reach, themselves included; `null`: nobody can say. Without goals the first rule is meant. */
export function reachedFrom(blocks: readonly Block[], goals: ReadonlySet<string>): Set<string> | null {
  const first = blocks.find(({ names }) => names !== null)?.names?.[0];
  const waiting = [...goals].flatMap((goal) => (goal === '' ? (first ?? []) : goal));
  const reached = new Set(waiting);
  for (const name of waiting) {
    for (const block of blocks) {
      if (!block.names?.includes(name)) continue;
      if (block.needs === null) return null;
      for (const need of block.needs) {
        if (!reached.has(need)) waiting.push(need);
        reached.add(need);
      }
    }
  }
  return reached;
}

/** `null`: the whole file is protected. `''` among the goals is what is made when none is named. */
export function targetsPart({
  rules: { cut },
  base,
  included = '',
  goals,
  always = [],
}: {
  rules: Rules;
  base: string;
  /** What files say that it includes. */
  included?: string;
  goals: ReadonlySet<string>;
  /** Reached without being asked for: make remakes its own files first. */
  always?: readonly string[];
}): Part | null {
  const blocks = cut(`${base}\n${included}`);
  const reached = blocks && reachedFrom(blocks, goals);
  if (reached === null) return null;
  for (const name of always) reached.add(name);
  const isFree = ({ names }: Block) => names !== null && !names.some((name) => reached.has(name));
  const named = [...goals].filter((goal) => goal !== '');
  return createPart({
    name:
      named.length === 0
        ? 'the first target'
        : `${named.length === 1 ? 'target' : 'targets'} ${named.join(', ')}`,
    read(content) {
      const blocks = cut(content);
      if (blocks === null) return null;
      const first = goals.has('') ? (blocks.find(({ names }) => names !== null)?.names?.[0] ?? '') : '';
      const texts = blocks.filter((block) => !isFree(block)).map(({ text }) => compact(text, reached));
      return [first, ...texts].filter((text) => text !== '').join('\n');
    },
    merge(before, claim) {
      const own = (cut(before) ?? []).filter((block) => !isFree(block));
      const free = (cut(claim) ?? []).filter(isFree);
      return [...own, ...free].map(({ text }) => text.replace(/\n*$/, '\n')).join('');
    },
  });
}

/** Without comments that stand alone; of `.PHONY` only what matters here. */
function compact(text: string, reached: ReadonlySet<string>): string {
  const phony = /^\.PHONY\s*:(.*)$/s.exec(text.trim());
  if (phony && !/[$\\]/.test(phony[1]!)) {
    const names = phony[1]!.split(/\s+/).filter((name) => reached.has(name));
    return names.length === 0 ? '' : `.PHONY: ${names.join(' ')}`;
  }
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines.filter((line) => line !== '' && !line.startsWith('#')).join('\n');
}
