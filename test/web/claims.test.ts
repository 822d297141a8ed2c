/** What an agent says stands beside what Pulse found, and never instead of it. */
import { expect, it } from 'vitest';
import type { Iteration, Judgement, PulseEvent, Verification } from '../../web/api/types.ts';
import { claimRows, freshnessOf } from '../../web/session/claims.ts';
import { personsWord } from '../../web/session/persons-word.ts';

const judgement: Judgement = {
  ...{ verdict: 'accepted', trust: 'verified', reasons: [], changes: [], declared: [], replay: null },
  ...{ notes: [], flaky: [], iteration: 2, attempt: 1, decidedBy: null, decidedAt: null, proof: null },
};
const run = {
  ...{
    command: 'node --test',
    exit: 0,
    passed: true,
    tree: 'tree1',
    commit: null,
    at: '2026-11-19T03:14:00Z',
  },
  tests: { ran: 12, passed: 12, failed: 0, skipped: 0 },
} as Verification;
const iteration = {
  ...{ iteration_number: 2, signal: 'COMPLETE', unit: null, tree_hash: 'tree1' },
  files_changed: ['a.js', 'README.md'],
} as Iteration;

it('says beside a claim what ran, what it counted, and what git has', () => {
  const base = { commit: 'c0ffee', tests: { 'node --test': { ran: 10, passed: 10, failed: 0, skipped: 0 } } };
  const rows = claimRows({ judgement: { ...judgement, base }, runs: [run], iteration, refusals: [] });
  expect(rows).toEqual([
    { claim: 'COMPLETE at 2', fact: 'accepted', word: 'ok' },
    {
      claim: 'its checks pass',
      fact: 'node --test → exit 0, 12 of 12 tests passed, 10 ran on the base',
      word: 'ok',
    },
    { claim: 'its files', fact: 'git says 2: a.js, README.md', word: '' },
  ]);
});

it('calls a claim false that its checks refute', () => {
  const rejected: Judgement = { ...judgement, verdict: 'rejected', reasons: ['node --test failed (exit 1)'] };
  const failed = { ...run, exit: 1, passed: false, tests: undefined } as unknown as Verification;
  const rows = claimRows({ judgement: rejected, runs: [failed], iteration, refusals: [] });
  expect(rows.slice(0, 2)).toEqual([
    { claim: 'COMPLETE at 2', fact: 'rejected: node --test failed (exit 1)', word: 'FALSE' },
    { claim: 'its checks pass', fact: 'node --test → exit 1', word: 'FALSE' },
  ]);
});

it('shows where filesChanged was not what git says, and changes of checks that nothing was said of', () => {
  const refusals = [
    { data: { reasons: ['filesChanged is not what git says. missing: README.md', 'Another reason.'] } },
  ] as unknown as PulseEvent[];
  const changed: Judgement = {
    ...judgement,
    verdict: 'ask',
    changes: [
      { path: 'a.test.js', part: null, what: 'changed' },
      { path: 'package.json', part: 'scripts', what: 'changed' },
    ],
    declared: [
      { path: './a.test.js', reason: 'It was wrong.' },
      { path: 'b.test.js', reason: 'Renamed.' },
    ],
  };
  const rows = claimRows({ judgement: changed, runs: [], iteration, refusals });
  expect(rows).toEqual([
    { claim: 'COMPLETE at 2', fact: 'its checks were changed', word: 'you decide' },
    { claim: 'filesChanged', fact: 'git says otherwise: missing: README.md', word: 'differs' },
    { claim: 'filesChanged, corrected', fact: 'git says 2: a.js, README.md', word: '' },
    { claim: 'checksChanged a.test.js: It was wrong.', fact: 'check changed: a.test.js', word: 'ok' },
    { claim: 'nothing said of it', fact: 'check changed: package.json (scripts)', word: 'differs' },
    { claim: 'checksChanged b.test.js: Renamed.', fact: 'it is as it was', word: 'differs' },
  ]);
});

it('says before a re-run whether the work is what was checked, as far as that is known', () => {
  expect(freshnessOf([], iteration, 'head')).toEqual({ state: 'never', at: null });
  expect(freshnessOf([run], iteration, 'head')).toEqual({ state: 'checked', at: run.at });
  expect(freshnessOf([run], { ...iteration, tree_hash: 'tree2' }, 'head').state).toBe('stale');
  expect(freshnessOf([run], undefined, 'head').state).toBe('checked');
  expect(freshnessOf([{ ...run, commit: 'head' }], { ...iteration, tree_hash: 'tree2' }, 'head').state).toBe(
    'checked',
  );
});

it('tells the words of people from those of Pulse', () => {
  const word = (type: string, data: Record<string, unknown>) => personsWord({ type, data });
  expect(word('session.resumed', { actor: 'cli', answer: 'ss' })).toEqual({
    ...{ who: 'cli', did: 'answered ', text: 'ss' },
  });
  expect(word('note.added', { actor: 'web:phone', text: 'Mind.' })?.text).toBe('Mind.');
  expect(word('session.resumed', { actor: 'cli', answer: null })?.did).toBe('resumed it');
  expect(word('session.resumed', { from: 'running' })).toBeNull();
  expect(word('iteration.settled', { actor: 'x' })).toBeNull();
});
