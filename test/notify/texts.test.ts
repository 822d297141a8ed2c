import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut } from '../../src/domain/cut.ts';
import { fitText, plainText } from '../../src/notify/channels/sms-text.ts';
import { messageOf } from '../../src/notify/texts.ts';

const session = { kind: 'goal', goal: 'g', max_iterations: 10, current_iteration: 3, total_commits: 2 };
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
  });
});

describe('a text message', () => {
  it('is written in the alphabet of phones where it is to have no emoji', () => {
    expect(plainText('⏸️ Blocked: Straße 🛑?')).toBe('Blocked: Straße ?');
    expect(plainText('Run `npm test` – “ča va…”')).toBe(`Run 'npm test' - "ca va..."`);
    expect(plainText('価格')).toBe('??');
  });

  it('has two parts at most, whatever stands in it, and keeps its tag', () => {
    const unit = fc.constantFrom('a', '`', '[', '€', '…', '😀', 'é', '価', '\n');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 800 }), fc.boolean(), (words, isPlain) => {
        const fit = fitText(words, { isPlain, tag: ' #a7c9' });
        expect(fit.endsWith(' #a7c9')).toBe(true);
        expect(partsOf(fit)).toBeLessThanOrEqual(2);
        if (words.length < 60 && !isPlain) expect(fit).toBe(`${words} #a7c9`);
      }),
    );
    expect(fitText('`'.repeat(400), { isPlain: true, tag: '' })).toHaveLength(305);
  });
});

/** As a service counts them: 153 places a part in the alphabet of phones, else 67, and no character stands in two parts. */
function partsOf(text: string): number {
  const isPlain = plainText(text) === text;
  const most = isPlain ? 153 : 67;
  const sizes = Array.from(text, (sign) => (isPlain ? ('^{}\\[~]|€'.includes(sign) ? 2 : 1) : sign.length));
  let [parts, left] = [1, most];
  for (const size of sizes) {
    if (size > left) [parts, left] = [parts + 1, most];
    left -= size;
  }
  return parts;
}
