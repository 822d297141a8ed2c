import { expect, it } from 'vitest';
import {
  describeTrust,
  formatTrust,
  leastTrust,
  TRUST_WORDS,
  trustOf,
} from '../../src/domain/check-words.ts';

it('a whole is worth as much as the least of its parts, in any order', () => {
  for (const [at, more] of TRUST_WORDS.entries())
    for (const less of TRUST_WORDS.slice(at))
      expect([leastTrust(more, less), leastTrust(less, more)]).toEqual([less, less]);
  expect(leastTrust(null, 'verified')).toBe('verified');
});

it('a goal that version 0.1 completed is called by its commands, and nothing else is guessed', () => {
  const old = { kind: 'goal', status: 'complete', trust: null, verify: ['npm test'] };
  expect(trustOf(old)).toBe('verified');
  expect(trustOf({ ...old, verify: [] })).toBe('unverified');
  expect(trustOf({ ...old, trust: 'verified_checks_changed' })).toBe('verified_checks_changed');
  expect(trustOf({ ...old, status: 'blocked' })).toBeNull();
  expect(trustOf({ ...old, kind: 'research' })).toBeNull();
});

it('what is still at work is said to be so', () => {
  expect(describeTrust('blocked', 'verified_checks_changed')).toBe('verified, checks changed so far');
  expect(describeTrust('complete', 'verified')).toBe('verified');
  expect(describeTrust('blocked', 'unverified')).toBe('unverified');
  expect(formatTrust('stale')).toBe('stale');
});
