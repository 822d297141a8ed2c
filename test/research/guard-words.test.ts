import { describe, expect, it } from 'vitest';
import { firstViolation } from '../../src/loops/research/measure/violations.ts';
import { nextStepsOf } from '../../src/loops/research/report/findings.ts';

const FINDINGS = {
  breaches: [],
  stateLeft: [],
  patternMatches: null,
  isGuardPassed: false,
  doesConfirmAgree: null,
} as const;
const OUTPUT = 'ok 1 - adds\nnot ok 2 - rejects an empty name\n  ---\nfail 1\n';

describe('an experiment that breaks the guard', () => {
  it('says which test failed first, and keeps what was printed', () => {
    const { text } = firstViolation({ ...FINDINGS, guardOutput: OUTPUT })!;
    const [first] = text.split('\n');
    expect(first).toBe('The guard command failed. not ok 2 - rejects an empty name');
    expect(text).toContain('fail 1');
    expect(firstViolation(FINDINGS)!.text).toBe('The guard command failed.');
  });

  it('is not proposed again as it was, however much it gained', () => {
    const { text: reason } = firstViolation({ ...FINDINGS, guardOutput: OUTPUT })!;
    const row = { iteration: 1, commit: null, metric: 53, delta: -47, status: 'discard' as const };
    const rows = [{ ...row, description: 'Delete the validation', commanderTaskId: null, reason }];
    const [step] = nextStepsOf({ metric: { name: 'ms', direction: 'lower' }, strategy: [], rows });
    expect(step!.title).toBe('Get this without breaking the guard: Delete the validation');
    expect(step!.description).toContain('not ok 2 - rejects an empty name');
  });
});
