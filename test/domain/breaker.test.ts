import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BREAKER_EVENTS,
  BREAKER_STATES,
  BREAKER_TRANSITIONS,
  type BreakerState,
  breakerKey,
  breakerWaitMs,
} from '../../src/domain/breaker.ts';

const move = (from: BreakerState, ...events: (typeof BREAKER_EVENTS)[number][]): BreakerState =>
  events.reduce((state, event) => BREAKER_TRANSITIONS[state][event], from);

describe('the breaker', () => {
  it('opens when an attempt is given up, lets one through, and opens again or closes by what comes of it', () => {
    expect(move('closed', 'failed', 'failed')).toBe('closed');
    expect(move('closed', 'given_up')).toBe('open');
    expect(move('open', 'failed')).toBe('open');
    expect(move('open', 'probed')).toBe('half_open');
    expect(move('half_open', 'failed')).toBe('open');
    expect(move('half_open', 'answered')).toBe('closed');
  });

  it('closes with the first answer, whatever was before, and opens only by a failure', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...BREAKER_EVENTS)), (events) => {
        const state = move('closed', ...events);
        expect(BREAKER_STATES).toContain(state);
        expect(BREAKER_TRANSITIONS[state].answered).toBe('closed');
        if (!events.includes('given_up')) expect(state).toBe('closed');
        if (state !== 'closed') expect(events.lastIndexOf('given_up')).toBeGreaterThan(-1);
        if (state === 'half_open')
          expect(events.lastIndexOf('probed')).toBeGreaterThan(events.lastIndexOf('given_up'));
      }),
    );
  });

  it('waits longer each time, and never longer than ten minutes', () => {
    expect([1, 2, 3, 4, 5, 1_000].map(breakerWaitMs)).toEqual([
      60_000, 120_000, 240_000, 480_000, 600_000, 600_000,
    ]);
  });

  it('is shared by the same agent with the same model, and the same command', () => {
    const key = (agent: string, model: string | null, command: string | null = null) =>
      breakerKey({ agent, model, command });
    expect(key('claude', null)).toBe('claude');
    expect(key('claude', 'opus')).toBe('claude opus');
    expect(key('acp', null, 'one --key secret')).toMatch(/^acp [0-9a-f]{12}$/);
    expect(new Set([key('acp', null, 'one'), key('acp', null, 'other'), key('claude', null)]).size).toBe(3);
  });
});
