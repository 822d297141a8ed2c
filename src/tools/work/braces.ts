import { ToolRefusal } from './refusal.ts';

const MAX_PATTERNS = 64;

/** `a.{ts,js}` as `a.ts` and `a.js`: git's patterns have no braces. Braces without a comma stay. */
export function expandBraces(pattern: string): string[] {
  const patterns = expand(pattern);
  if (patterns.length > MAX_PATTERNS)
    throw new ToolRefusal(`The braces stand for more than ${MAX_PATTERNS} patterns.`);
  return [...new Set(patterns)];
}

function expand(pattern: string): string[] {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (!group) return [pattern];
  const before = pattern.slice(0, group.index);
  const after = pattern.slice(group.index + group[0].length);
  const expanded: string[] = [];
  for (const choice of group[1]!.split(',')) {
    expanded.push(...expand(`${before}${choice}${after}`));
    if (expanded.length > MAX_PATTERNS) return expanded;
  }
  return expanded;
}
