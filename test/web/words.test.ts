/** Each word for how something stands has a look of its own: a grey dash says nothing. */
import { expect, it } from 'vitest';
import { COMMANDER_STATUSES } from '../../src/domain/commander.ts';
import { ITERATION_OUTCOMES, ITERATION_STATUSES, SESSION_STATUSES } from '../../src/domain/status.ts';
import { eventWords } from '../../web/session/event-words.ts';
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
