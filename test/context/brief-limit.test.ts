/** No brief has more tokens than it may, and its account adds up, whatever it is made of. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accountSections,
  type BriefInput,
  buildIterationPrompt,
  MOST_BRIEF_TOKENS,
} from '../../src/context/brief.ts';
import { loadTokenCounter } from '../../src/context/tokens.ts';
import { countedBrief } from '../../src/loops/shared/brief-tools.ts';
import { createRandom } from '../fakes/random.ts';

const countTokens = await loadTokenCounter();

/** What costs a letter little and what costs it much, so that neither a part nor a sample tells of the rest. */
const POOLS: readonly (readonly string[])[] = [
  ['internationalization', 'responsibilities', 'configuration', 'implementation', 'documentation'],
  ['='.repeat(60), '-'.repeat(60), 'x'],
  [' '.repeat(40), 'a1', 'ŘžŁ', '\u00a0', '\t'],
  ['the', 'a', 'Q9ż☃', 'of', '```', '# Goal'],
  ['港口', '語言處理', 'かな', '한국어', '🚢👩‍👩‍👧'],
  ['const parseHTTPHeader2 =', '(value: string) => {', '};', '/* … */', '0x7fffffff', "it('"],
];

interface Mixed {
  seed: number;
  length: number;
}

function mixed({ seed, length }: Mixed): string {
  const random = createRandom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const parts: string[] = [];
  for (let size = 0; size < length; ) {
    const pool = pick([...POOLS, null]);
    const end = size + 500 + random() * 9_000;
    while (size < Math.min(end, length)) {
      const word = pool ? pick(pool) : String.fromCharCode(Math.floor(random() * 65_536));
      const part = `${word}${pool && random() < 0.1 ? '\n' : pool ? ' ' : ''}`;
      parts.push(part);
      size += part.length;
    }
  }
  return parts.join('');
}

const long = (max: number) =>
  fc.record({ seed: fc.nat(), length: fc.integer({ min: 1, max }) }).map((each) => mixed(each));
const some = (max: number) => fc.oneof(long(max), fc.constant('One line.'));

const base: BriefInput = {
  ...{ goal: 'Build it.', iteration: 3, maxIterations: 10, branch: 'pulse/it', verify: ['npm test'] },
  ...{ answer: null, lastOutcome: null, progress: [], context: null, stagnation: null, countTokens },
};
const turn = { id: 't-1', role: 'assistant', phase: 'planning', iteration: 2 } as const;

const sumOf = (sections: readonly { tokens: number }[] = []) =>
  sections.reduce((sum, { tokens }) => sum + tokens, 0);

function expectBounded(brief: { text: string; tokens: number }, sections: readonly { tokens: number }[]) {
  expect(brief.tokens).toBeLessThanOrEqual(MOST_BRIEF_TOKENS);
  expect(brief.tokens).toBe(countTokens(brief.text));
  expect(sumOf(sections)).toBe(brief.tokens);
}

describe('any brief', () => {
  it('of a goal has at most 24,000 tokens, and its sections are all of them', () => {
    fc.assert(
      fc.property(
        some(130_000),
        fc.option(some(90_000)),
        fc.array(some(60_000), { maxLength: 2 }),
        some(20_000),
        fc.array(some(10_000), { minLength: 1, maxLength: 3 }),
        (goal, answer, notes, content, verify) => {
          const failures = verify.map((command) => ({ command, exit: 1, outputTail: content }));
          const brief = buildIterationPrompt({
            ...{ ...base, goal, answer, notes, verify, lastOutcome: { kind: 'rejected', failures } },
            progress: [{ iteration: 1, signal: 'CONTINUE', summary: content.slice(0, 5_000) }],
            context: { strategy: 'semantic', turn: { ...turn, content } },
          });
          expectBounded(brief, accountSections(brief.sections));
          expect(brief.text).toContain('# How to end this run');
          expect(brief.text).toContain('# Goal');
        },
      ),
      { numRuns: 12 },
    );
  });

  it('of another loop too, with and without tools', async () => {
    await fc.assert(
      fc.asyncProperty(
        some(200_000),
        some(90_000),
        fc.constantFrom('none', 'mcp'),
        async (goal, list, strategy) => {
          const items = list.split('\n').map((line) => `- ${line}`);
          const text = `# Goal\n\n${goal}\n\n## The other pulses\n\n${items.join('\n')}\n\n## Do\n\n- Little.\n`;
          const brief = await countedBrief({ text, strategy });
          expectBounded(brief, brief.sections!);
        },
      ),
      { numRuns: 12 },
    );
  });
});

it('commands that are endless leave room for the goal', () => {
  const brief = buildIterationPrompt({ ...base, verify: ['echo 港口語言處理 && '.repeat(9_000)] });
  expect(brief.text).toContain('Build it.');
  expect(brief.text).toContain('[… cut]');
  expectBounded(brief, brief.sections);
});
