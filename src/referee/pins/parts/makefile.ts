/** Rules of a Makefile. */
import type { Block, Rules } from './targets.ts';

const PLAIN = /^[\w./+-]+$/;

export const makeRules: Rules = {
  cut(text) {
    // Recipes that begin with another character, and rules that are there only sometimes.
    if (/\.RECIPEPREFIX|^\s*(?:ifn?eq|ifn?def|else|endif)\b/m.test(text)) return null;
    const blocks: Block[] = [];
    let rule: Block | null = null;
    for (const line of definitionsTogether(logicalLines(text))) {
      if (rule !== null && /^(?:\t|#|\s*$)/.test(line)) {
        rule.text += `${line}\n`;
        rule.body += `${commandIn(line)}\n`;
        continue;
      }
      const read = readRule(line);
      rule = read;
      blocks.push(read ?? { text: `${line}\n`, names: null, needs: [], body: '' });
    }
    return blocks;
  },
};

/** Lines that end with a backslash belong together. */
function logicalLines(text: string): string[] {
  return text.match(/(?:[^\n\\]|\\[\s\S]|\\$)*(?:\n|$)/g)?.map((line) => line.replace(/\n$/, '')) ?? [];
}

/** What stands between `define` and `endef` is one text. */
function definitionsTogether(lines: readonly string[]): string[] {
  const together: string[] = [];
  let depth = 0;
  for (const line of lines) {
    if (depth > 0) together[together.length - 1] += `\n${line}`;
    else together.push(line);
    if (/^\s*(?:override\s+|export\s+)*define\b/.test(line)) depth++;
    if (/^\s*endef\b/.test(line)) depth = Math.max(0, depth - 1);
  }
  return together;
}

function readRule(line: string): Block | null {
  if (/^[\t#]/.test(line)) return null;
  const found = /^([^:=#]*?)(::?)(?![:=])([^\n]*(?:\n[\s\S]*)?)$/.exec(line);
  if (found === null) return null;
  const [, left = '', , right = ''] = found;
  const names = left.trim().split(/\s+/);
  if (names.some((name) => !PLAIN.test(name) || name.startsWith('.'))) {
    return /^\.PHONY\b/.test(left) ? null : special(line);
  }
  if (/^(?:include|-include|sinclude|export|unexport|override|vpath|define|if\w*)$/.test(names[0]!))
    return null;
  const [needed = '', ...commands] = right.split(';');
  // A variable for one target is no rule: no recipe may follow it.
  if (/=/.test(needed)) return null;
  const needs = needed
    .replaceAll('\\\n', ' ')
    .replace(/\s#.*$/, '')
    .split(/\s+/)
    .filter((name) => name !== '' && name !== '|');
  const isPlain = needs.every((name) => PLAIN.test(name));
  const body = commands.length > 0 ? `${commandIn(commands.join(';'))}\n` : '';
  return { text: `${line}\n`, names, needs: isPlain ? needs : null, body };
}

/** A pattern, a special target, or one whose name is computed: its recipe belongs to it and is protected with it. */
function special(line: string): Block {
  return { text: `${line}\n`, names: null, needs: [], body: '' };
}

/** Without what tells make how to treat it, and with its dollars as the shell sees them. */
function commandIn(line: string): string {
  return line
    .replace(/^\s*[@+-]*\s*/, '')
    .replace(/\$[({]MAKE[)}]/g, 'make')
    .replaceAll('$$', '$');
}

/** Values of variables that are set once, to plain text. */
export function makeVariables(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [, name, value] of text.matchAll(
    /^(?:export\s+|override\s+)*([\w.-]+)\s*(?:::?|\?)?=[ \t]*([^\n#$]*)$/gm,
  )) {
    values.set(name!, value!.trim());
  }
  return values;
}

/** Files that it includes, as far as they are named. */
export function makeIncludes(text: string): string[] {
  const lines = [...text.matchAll(/^\s*(?:-|s)?include\s+([^\n#]+)/gm)];
  return lines.flatMap(([, names]) => names!.trim().split(/\s+/)).filter((name) => !name.includes('$'));
}
