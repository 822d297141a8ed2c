/** Each word for how something stands has a look of its own: a grey dash says nothing. */
import { expect, it } from 'vitest';
import { COMMANDER_STATUSES } from '../../src/domain/commander.ts';
import { ITERATION_OUTCOMES, ITERATION_STATUSES, SESSION_STATUSES } from '../../src/domain/status.ts';
import { eventWords } from '../../web/session/event-words.ts';
import { spentOf, spentShort } from '../../web/ui/format.ts';
import { OUTCOME, trustLook } from '../../web/ui/outcomes.ts';

it.each([...ITERATION_OUTCOMES, ...ITERATION_STATUSES, ...SESSION_STATUSES, ...COMMANDER_STATUSES])(
  'has a look for %s',
  (word) => {
    expect(OUTCOME[word]).toBeDefined();
  },
);

it('calls what is complete done', () => {
  expect(OUTCOME.complete).toEqual(['done', 'done']);
});

it('says an event by its text, else by its plain values', () => {
  expect(eventWords({ actor: 'cli', text: 'Mind\nthe gap.' })).toBe('Mind the gap.');
  expect(eventWords({ attempt: 1, ok: true, sections: [1] })).toBe('attempt 1, ok true');
  expect(eventWords({ message: 'x'.repeat(400) })).toHaveLength(301);
});

it('says how far a result is to be trusted as the command line does, and of what is not over so far', () => {
  for (const status of ['running', 'blocked', 'failed', 'aborted'])
    expect(trustLook('verified', status)).toEqual(['done', 'verified so far']);
  expect(trustLook('verified', 'complete')).toEqual(['done', 'verified']);
  expect(trustLook('verified_checks_changed', 'complete')[1]).toBe('verified, checks changed');
  expect(trustLook('unverified', 'running')).toEqual(['unverified', 'UNVERIFIED']);
  expect(trustLook('false', 'complete')[1]).toBe('FALSE');
});

it('claims of no agent that it costs nothing', () => {
  const untold = { spent_usd: 0, total_tokens_used: 2_600, budget_usd: 10 };
  expect([spentShort(untold), spentOf(untold)]).toEqual(['2600 tok', 'not known, limit $10.00']);
  expect(spentShort({ ...untold, total_tokens_used: 0 })).toBe('–');
  expect(spentOf({ ...untold, budget_usd: null })).toBe('not known');
  const told = { ...untold, spent_usd: 1.2 };
  expect([spentShort(told), spentOf(told)]).toEqual(['$1.20', '$1.20 of $10.00']);
});
