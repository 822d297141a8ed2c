/** What an edit has made of a plan, as a patch that the diff shows. */
import type { DiffFile, Plan } from '../api/types.ts';

export function planDiff(before: Plan, after: Plan): DiffFile {
  const lines = diffLines(linesOf(before), linesOf(after));
  const counted = (signs: string): number => lines.filter((line) => signs.includes(line[0]!)).length;
  const head = `@@ -1,${counted(' -')} +1,${counted(' +')} @@`;
  return {
    ...{
      path: 'plan',
      status: 'modified',
      oldMode: null,
      newMode: null,
      isBinary: false,
      isTruncated: false,
    },
    ...{ added: counted('+'), removed: counted('-'), patch: `${[head, ...lines].join('\n')}\n` },
  };
}

/** As a person would write it down. */
function linesOf({ pulses, verify, preflight, approach, ...plan }: Plan): string[] {
  const named = (name: string, value: unknown): string[] =>
    value === undefined ? [] : textLines(name, typeof value === 'string' ? value : JSON.stringify(value));
  return [
    ...Object.entries(plan).flatMap(([name, value]) => named(name, value)),
    ...named('approach', approach),
    ...(verify ?? []).map((check) => `verify: ${check.command}${check.source ? ` (${check.source})` : ''}`),
    ...(preflight ?? []).map((command) => `preflight: ${command}`),
    ...pulses.flatMap(({ id, ...pulse }) => [
      `pulse ${id}`,
      ...Object.entries(pulse).flatMap(([name, value]) =>
        named(`  ${name}`, Array.isArray(value) ? value.join(', ') : value),
      ),
    ]),
  ];
}

function textLines(name: string, text: string): string[] {
  const [first = '', ...more] = text.split('\n');
  return [`${name}: ${first}`, ...more.map((line) => `    ${line}`)];
}

/** More to compare would take longer than a blink. */
const MOST_COMPARED = 4_000_000;

/** The fewest lines that differ, each with its sign before it. */
export function diffLines(before: readonly string[], after: readonly string[]): string[] {
  if (before.length * after.length > MOST_COMPARED)
    return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  for (let a = before.length - 1; a >= 0; a -= 1)
    for (let b = after.length - 1; b >= 0; b -= 1)
      common[a * width + b] =
        before[a] === after[b]
          ? common[(a + 1) * width + b + 1]! + 1
          : Math.max(common[(a + 1) * width + b]!, common[a * width + b + 1]!);
  const lines: string[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && before[a] === after[b]) {
      lines.push(` ${before[a]}`);
      a += 1;
      b += 1;
    } else if (
      b >= after.length ||
      (a < before.length && common[(a + 1) * width + b]! >= common[a * width + b + 1]!)
    ) {
      lines.push(`-${before[a]}`);
      a += 1;
    } else {
      lines.push(`+${after[b]}`);
      b += 1;
    }
  }
  return lines;
}
