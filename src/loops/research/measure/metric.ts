/** Reads the metric out of what the verify command printed. Strict: half a number is no number. */

export type MetricReading =
  | { kind: 'number'; value: number }
  /** The pattern matched so often; only once counts, or a candidate could print a better one beside the true one. */
  | { kind: 'not_once'; matches: number }
  | { kind: 'no_number'; text: string };

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const SHOWN = 80;

/** `pattern`: its first group, or all of it, is the number. Without one the last line that is not empty is. */
export function readMetric(output: string, pattern: string | null): MetricReading {
  if (pattern === null) return strictNumber(lastLine(output));
  const matches = [...output.matchAll(new RegExp(pattern, 'gm'))];
  if (matches.length !== 1) return { kind: 'not_once', matches: matches.length };
  return strictNumber(matches[0]![1] ?? matches[0]![0]);
}

function strictNumber(text: string): MetricReading {
  const trimmed = text.trim();
  const value = NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
  return Number.isFinite(value)
    ? { kind: 'number', value }
    : { kind: 'no_number', text: trimmed.slice(0, SHOWN) };
}

function lastLine(output: string): string {
  return (
    output
      .trimEnd()
      .split(/\r?\n|\r/)
      .at(-1) ?? ''
  );
}
