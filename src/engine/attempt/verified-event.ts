/** What is told of a claim that was judged: what ran, and what the referee made of it. All of it is in the store. */
import type { AttemptResult, VerificationRecord } from '../../domain/attempt.ts';
import type { Judgement } from '../../domain/judgement.ts';
import { tellingLines } from '../../domain/telling-lines.ts';
import type { HeldAttempt } from '../ports.ts';

/** Of a failing check. */
const LINES_TOLD = 8;
/** Names of tests and files come from the claim: neither their number nor their length is to be relied on. */
const ITEMS_TOLD = 20;
const LONGEST = 1_000;

export function verifiedEvent(
  { iteration }: Pick<HeldAttempt, 'iteration'>,
  { verification, judgement }: Pick<AttemptResult, 'verification' | 'judgement'>,
) {
  return {
    type: 'iteration.verified' as const,
    iteration,
    data: {
      passed: verification.every((record) => record.passed),
      commands: verification.map(commandTold),
      ...(judgement ? { judgement: judgementTold(judgement) } : {}),
    },
  };
}

function commandTold({ command, exit, passed, durationMs, tree, ...more }: VerificationRecord) {
  const { outputTail, tests, isFlaky, isReused } = more;
  return {
    command,
    exit,
    passed,
    durationMs: Math.round(durationMs),
    tree,
    ...(tests ? { tests } : {}),
    ...(isFlaky ? { flaky: true } : {}),
    ...(isReused ? { reused: true } : {}),
    ...(passed ? {} : { output: tellingLines(outputTail, LINES_TOLD) }),
  };
}

function judgementTold({ verdict, trust, reasons, changes, replay, flaky }: Judgement) {
  return {
    verdict,
    trust,
    reasons: some(reasons),
    changed: some(
      changes.map(({ path, part, what }) => `${part === null ? path : `${path}: ${part}`} (${what})`),
    ),
    changedCount: changes.length,
    oldChecks: replay === null ? null : replay.passed ? 'hold' : 'fail',
    flaky: some(flaky),
  };
}

function some(texts: readonly string[]): string[] {
  return texts
    .slice(0, ITEMS_TOLD)
    .map((text) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text));
}
