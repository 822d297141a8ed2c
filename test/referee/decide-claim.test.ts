import { describe, expect, it } from 'vitest';
import { type ClaimFacts, decideClaim, needsReplay } from '../../src/referee/decide-claim.ts';
import type { TestNames } from '../../src/referee/output/tests.ts';
import type { CheckRun } from '../../src/referee/run-commands.ts';

const NAMES = { passed: ['a', 'b'], failed: [], skipped: [] };

interface Told extends Partial<Pick<TestNames, 'passed' | 'failed' | 'skipped'>> {
  exit?: number;
  run?: Partial<CheckRun>;
  isFlaky?: boolean;
  isSilent?: boolean;
}

function run({ exit, run: more, isFlaky, isSilent, ...told }: Told = {}): CheckRun {
  const names = { ...NAMES, ...told, isComplete: true, groups: [] };
  const [passed, failed, skipped] = [names.passed.length, names.failed.length, names.skipped.length];
  const code = exit ?? (failed > 0 ? 1 : 0);
  return {
    record: {
      ...{ command: 'test', cwd: '/', exit: code, passed: code === 0, durationMs: 1, outputHash: '' },
      ...{
        outputTail: '',
        tree: 't',
        commit: null,
        environment: '',
        at: '',
        ...(isFlaky ? { isFlaky } : {}),
      },
    },
    holds: code === 0,
    tests: isSilent
      ? { counts: null, names: null, ranNoTest: false }
      : {
          counts: { ran: passed + failed, passed, failed, skipped },
          names,
          ranNoTest: passed + failed === 0,
        },
    swallowed: code === 0 ? failed : 0,
    tampered: [],
    ...more,
  };
}

function facts(given: Partial<ClaimFacts> = {}): ClaimFacts {
  return {
    ...{ baseSha: 'base', policy: 'ask', known: 'must-pass', base: [run({ passed: ['a'], failed: ['b'] })] },
    ...{ claim: [run()], changes: [], declared: [], changesChecks: false, replay: null, notes: [] },
    ...given,
  };
}

const CHANGE = { path: 'a.test.js', part: null, what: 'changed' } as const;
const lost = { tree: 'r', runs: [run({ passed: ['a'], failed: ['b'] })] };

/** As a loop sees it that forgives what failed on the base. */
const forgiven = { passed: ['a'], failed: ['b'], run: { holds: true } };

describe('what a loop forgives', () => {
  const changed = { changes: [CHANGE], replay: { tree: 'r', runs: [run(forgiven)] } };

  it('may fail with the old checks as it does with the new ones', () => {
    const decided = decideClaim(facts({ ...changed, claim: [run(forgiven)] }));
    expect(decided).toMatchObject({ verdict: 'accepted', trust: 'verified', replay: { passed: true } });
  });

  it('asks a person where it fails with the old checks alone', () => {
    expect(decideClaim(facts(changed))).toMatchObject({ verdict: 'rejected', replay: { passed: false } });
    const declared = [{ path: CHANGE.path, reason: 'it has another name' }];
    expect(decideClaim(facts({ ...changed, declared })).verdict).toBe('ask');
    const silent = { ...forgiven, isSilent: true };
    const unnamed = { tree: 'r', runs: [run(silent)] };
    expect(decideClaim(facts({ ...changed, replay: unnamed })).verdict).toBe('rejected');
  });
});

describe('a claim', () => {
  it.each<[string, Partial<ClaimFacts>, string]>([
    ['whose checks pass is accepted', {}, 'accepted'],
    ['without a base is accepted by its exit', { base: [] }, 'accepted'],
    ['with a failing check is rejected', { claim: [run({ failed: ['b'], passed: ['a'] })] }, 'rejected'],
    ['that ran no test is rejected', { claim: [run({ passed: [] })] }, 'rejected'],
    ['whose failures were swallowed is rejected', { claim: [run({ failed: ['b'], exit: 0 })] }, 'rejected'],
    ['with fewer tests is rejected', { claim: [run({ passed: ['a'] })] }, 'rejected'],
    ['with more skipped tests is rejected', { claim: [run({ skipped: ['c'] })] }, 'rejected'],
    [
      'that lost a test, though none was changed, is rejected',
      { claim: [run({ passed: ['a', 'x'] })] },
      'rejected',
    ],
    ['that says nothing of tests any longer is rejected', { claim: [run({ isSilent: true })] }, 'rejected'],
    [
      'that rewrites a check while it runs is rejected',
      { claim: [run({ run: { tampered: ['a'] } })] },
      'rejected',
    ],
    [
      'that renames a test is accepted if the old one holds',
      { claim: [run({ passed: ['a', 'x'] })], changes: [CHANGE], replay: { tree: 'r', runs: [run()] } },
      'accepted',
    ],
    ['whose old checks fail is rejected undeclared', { changes: [CHANGE], replay: lost }, 'rejected'],
    [
      'whose old checks run fewer tests is rejected',
      { changes: [CHANGE], replay: { tree: 'r', runs: [run({ passed: ['a'] })] } },
      'rejected',
    ],
    [
      'that declares them asks',
      { changes: [CHANGE], replay: lost, declared: [{ path: './a.test.js', reason: 'r' }] },
      'ask',
    ],
    [
      'that declares another file is rejected',
      { changes: [CHANGE], replay: lost, declared: [{ path: 'z', reason: 'r' }] },
      'rejected',
    ],
    [
      'that declares them is rejected where that is forbidden',
      { policy: 'forbid', changes: [CHANGE], replay: lost, declared: [{ path: 'a.test.js', reason: 'r' }] },
      'rejected',
    ],
    ['whose plan says so is accepted', { changesChecks: true, changes: [CHANGE], replay: lost }, 'accepted'],
    ['is accepted where checks may change', { policy: 'allow', changes: [CHANGE], replay: lost }, 'accepted'],
    [
      'that fails is rejected even where checks may change',
      { policy: 'allow', claim: [run({ failed: ['b'] })] },
      'rejected',
    ],
    [
      'with a flaky test that held on the base is accepted',
      { claim: [run({ isFlaky: true, run: { failedFirst: ['a'] } })] },
      'accepted',
    ],
    [
      'with a flaky test that failed on the base is rejected',
      { claim: [run({ isFlaky: true, run: { failedFirst: ['b'] } })] },
      'rejected',
    ],
    [
      'with a flaky check that names nothing, and failed on the base, is rejected',
      { claim: [run({ isFlaky: true })] },
      'rejected',
    ],
    [
      'with a failure that was there before is rejected by default',
      { claim: [run({ passed: ['a'], failed: ['b'] })] },
      'rejected',
    ],
    [
      'with one is accepted where known ones may fail',
      { known: 'may-fail', claim: [run({ passed: ['a'], failed: ['b'] })] },
      'accepted',
    ],
    [
      'with another is rejected where known ones may fail',
      { known: 'may-fail', claim: [run({ passed: ['b'], failed: ['a'] })] },
      'rejected',
    ],
    [
      'of a file that could not be loaded on the base is accepted',
      { base: [run({ passed: [], failed: ['test/a.test.js'] })] },
      'accepted',
    ],
  ])('%s', (_, given, verdict) => {
    const judged = decideClaim(facts(given));
    expect(judged.verdict, judged.reasons.join('\n')).toBe(verdict);
    expect(judged.reasons.length > 0).toBe(verdict !== 'accepted' || judged.trust !== 'verified');
  });

  it('is called by what was let pass', () => {
    const changed = facts({ changes: [CHANGE], replay: lost });
    expect(decideClaim({ ...changed, policy: 'allow' })).toMatchObject({
      trust: 'verified_checks_changed',
      allowedBy: 'policy',
    });
    expect(decideClaim({ ...changed, changesChecks: true }).allowedBy).toBe('plan');
  });

  it('is replayed only where it changed a check, and passes otherwise', () => {
    expect(needsReplay(facts())).toBe(false);
    expect(needsReplay(facts({ changes: [CHANGE] }))).toBe(true);
    expect(needsReplay(facts({ changes: [CHANGE], claim: [run({ failed: ['b'] })] }))).toBe(false);
  });
});
