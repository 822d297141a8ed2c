import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, messageOf, withoutEmoji } from '../../src/notify/texts.ts';

const session = { kind: 'goal', max_iterations: 10, current_iteration: 3, total_commits: 2 };
const told = (type: string, data: Record<string, unknown> = {}, more = {}) =>
  messageOf({ type, iteration: 3, data }, { ...session, ...more })?.text ?? null;

describe('what people are told', () => {
  it('has the words of the protocol', () => {
    const settled = { signal: 'CONTINUE', summary: 'Added the parser.' };
    expect(told('iteration.settled', settled)).toBe('📍 Iteration 3/10: Added the parser. Continuing...');
    expect(told('session.ended')).toBe('✅ Session complete (3 iterations, 2 commits)');
    expect(told('session.blocked', { detail: 'Which port?' })).toBe('⏸️ Blocked: Which port?');
    expect(told('session.blocked', { detail: null, stopReason: 'iteration_limit' })).toBe(
      '⏸️ Blocked: iteration_limit',
    );
    expect(told('session.failed', { stopReason: 'agent_error' })).toBe('❌ Failed: agent_error');
    expect(told('session.paused')).toBe('⏸️ Paused');
    expect(told('session.aborted')).toBe('🛑 Aborted');
  });

  it('leaves out what ends a session anyway, and the single steps of other loops', () => {
    expect(told('iteration.settled', { signal: 'COMPLETE', summary: 'Done.' })).toBeNull();
    expect(told('iteration.settled', { signal: 'CONTINUE' }, { kind: 'research' })).toBeNull();
    expect(told('agent.text', { text: 'x' })).toBeNull();
  });

  it('is cut to what a service takes, never in the middle of a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.integer({ min: 4, max: 50 }),
        (text, most) => {
          const short = cut(text, most);
          expect(short.length).toBeLessThanOrEqual(most);
          expect(short.isWellFormed()).toBe(true);
          if (text.length <= most) expect(short).toBe(text);
        },
      ),
    );
    expect(withoutEmoji('⏸️ Blocked: Straße 🛑?')).toBe('Blocked: Stra?e ?');
  });
});
