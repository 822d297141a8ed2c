import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundBrief, WHOLE_BRIEF } from '../../src/context/bounded-brief.ts';
import { fenced } from '../../src/context/fence.ts';
import { loadTokenCounter } from '../../src/context/tokens.ts';
import { words } from '../fakes/words.ts';

const count = await loadTokenCounter();
const MOST = 24_000;
const bound = (text: string) => boundBrief(text, { most: MOST, count });

const brief = (parts: { description: string; approach: string; others?: string[] }) =>
  [
    `# Pulse one\n\n${fenced(parts.description)}\n\nThis is one pulse.`,
    `## The plan's approach\n\n${fenced(parts.approach)}`,
    ...(parts.others ? [`## The other pulses\n\n${parts.others.map((line) => `- ${line}`).join('\n')}`] : []),
    `## Do\n\n- Make only the changes that this pulse asks for.\n- Read a file before you edit it.`,
    `## How to finish\n\n${fenced('npm test', 'sh')}\n\nThe end.`,
  ].join('\n\n');

describe('a brief that is too long', () => {
  it('is left as it is where it is short enough', () => {
    const text = brief({ description: 'Do it.', approach: words(20_000, 1) });
    expect(bound(text)).toBe(text);
  });

  it('is cut where it is longest, the work itself last, and says where the whole is', () => {
    const description = words(64 * 1024, 1);
    const text = brief({ description, approach: words(64 * 1024, 2), others: [words(90_000, 3), 'short'] });
    expect(count(text)).toBeGreaterThan(MOST);
    const cut = bound(text);
    expect(count(cut)).toBeLessThanOrEqual(MOST);
    expect(count(cut)).toBeGreaterThan(MOST * 0.9);
    expect(cut).toContain(description);
    expect(cut).toContain('# Pulse one');
    expect(cut).toContain('- Read a file before you edit it.');
    expect(cut).toContain(fenced('npm test', 'sh'));
    expect(cut.match(/letters are cut here/g)).toHaveLength(2);
    expect(cut).toMatch(new RegExp(`The whole of it stands in \`${WHOLE_BRIEF}\``));
  });

  it('has a part of the work where that alone is too long', () => {
    const cut = bound(brief({ description: words(300_000, 1), approach: words(64 * 1024, 2) }));
    expect(count(cut)).toBeLessThanOrEqual(MOST);
    expect(count(cut)).toBeGreaterThan(MOST * 0.9);
    expect(cut.match(/letters are cut here/g)).toHaveLength(2);
  });

  it('never is longer than it may be, and its fences close, whatever it is made of', () => {
    const text = fc.oneof(
      fc.integer({ min: 1, max: 200_000 }).map((length) => words(length, length)),
      fc.constantFrom(
        '````\n'.repeat(30_000),
        '\u{1f469}'.repeat(60_000),
        ' '.repeat(90_000),
        '- a\n'.repeat(50_000),
      ),
    );
    fc.assert(
      fc.property(text, text, fc.array(text, { maxLength: 3 }), (description, approach, others) => {
        const cut = bound(brief({ description, approach, others }));
        expect(count(cut)).toBeLessThanOrEqual(MOST);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut).toContain('# Pulse one');
      }),
      { numRuns: 12 },
    );
  });
});
