/** What a check is held to: read by one function, judged by one function. */
import { runInNewContext } from 'node:vm';
import { PulseError } from '../../../domain/errors.ts';

export type Expectation =
  | { kind: 'success' }
  | { kind: 'text'; text: string }
  | { kind: 'pattern'; pattern: RegExp }
  | { kind: 'exit'; code: number };

export interface Observed {
  /** `null`: it was ended by a signal, or could not be started. */
  exit: number | null;
  output: string;
}

export interface JudgeOptions {
  /** Of a test that must fail: text and pattern are held against its output alone. The exit is judged elsewhere. */
  isFailureWanted?: boolean;
}

const MOST_PATTERN = 1_000;
/** A pattern that goes astray on some output must not hold up everything else. */
const PATTERN_MS = 1_000;

/**
 * Absent: exit 0. `exit N`: that exit. `/…/`: exit 0, and the output matches the pattern; `^` and `$` hold at each line.
 * Any other text: exit 0, and the output contains it. Throws `invalid_input`.
 */
export function parseExpect(expect: string | undefined): Expectation {
  if (expect === undefined) return { kind: 'success' };
  const exit = /^exit (\d{1,3})$/.exec(expect);
  if (exit) {
    const code = Number(exit[1]);
    if (code > 255) throw invalid(expect, 'an exit is at most 255');
    return { kind: 'exit', code };
  }
  if (expect.length > 2 && expect.startsWith('/') && expect.endsWith('/'))
    return { kind: 'pattern', pattern: parsePattern(expect) };
  if (expect === '') throw invalid(expect, 'it is empty');
  return { kind: 'text', text: expect };
}

function parsePattern(expect: string): RegExp {
  if (expect.length > MOST_PATTERN) throw invalid(expect, `a pattern has at most ${MOST_PATTERN} characters`);
  try {
    return new RegExp(expect.slice(1, -1), 'm');
  } catch (cause) {
    throw invalid(expect, (cause as Error).message);
  }
}

/** `null`: it is as expected; else why not, as a sentence. */
export function judgeExpect(
  expectation: Expectation,
  { exit, output }: Observed,
  { isFailureWanted = false }: JudgeOptions = {},
): string | null {
  const wanted = expectation.kind === 'exit' ? expectation.code : 0;
  const isExitJudged = expectation.kind === 'exit' || !isFailureWanted;
  if (isExitJudged && exit !== wanted)
    return `It ended with ${exit === null ? 'no exit code' : `exit ${exit}`}, not with exit ${wanted}.`;
  switch (expectation.kind) {
    case 'text':
      return output.includes(expectation.text) ? null : `Its output does not contain "${expectation.text}".`;
    case 'pattern':
      return judgePattern(expectation.pattern, output);
    default:
      return null;
  }
}

function judgePattern(pattern: RegExp, output: string): string | null {
  const source = pattern.source;
  try {
    const isMatch = runInNewContext(
      'new RegExp(source, "m").test(output)',
      { source, output },
      { timeout: PATTERN_MS },
    );
    return isMatch ? null : `Its output does not match /${source}/.`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return `Matching /${source}/ took longer than ${PATTERN_MS / 1000} s.`;
  }
}

function invalid(expect: string, why: string): PulseError {
  return new PulseError(
    'invalid_input',
    `The expectation "${expect.slice(0, 100)}" cannot be read: ${why}.`,
    {
      hint: 'Leave it out for exit 0, or give a text, /a pattern/ or exit N.',
    },
  );
}
