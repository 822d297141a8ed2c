import { describe, expect, it } from 'vitest';
import { outputSummary, summaryBy } from '../../src/domain/summary.ts';

describe('outputSummary', () => {
  it.each([
    ['the first paragraph on one line', 'Built the\nparser.\n\nMore.', 'Built the parser.'],
    ['past headings and code', '# Done\n\n```\nx\n```\n\nBuilt it.', 'Built it.'],
    ['without tags', '<signal>COMPLETE</signal>\n\nBuilt it. <signal>BLOCKED: a\nb</signal>', 'Built it.'],
    ['with inline code as text', 'Fixed `parse()` in **a.ts**.', 'Fixed parse() in a.ts.'],
    ['without quoted tags', 'Said `<signal>X</signal>` now.', 'Said X now.'],
    ['without comments and quotes', '> q\n\n<!-- c -->\nBuilt <!-- x --> it.', 'Built it.'],
    ['a list item where there is no paragraph', '# Title\n- Built it.', 'Title'],
    ['nothing for only code', '```\nx\n```', null],
    ['nothing for an empty message', ' \n', null],
    ['without control characters', 'a\u001b[31mb\0c', 'a [31mb c'],
  ])('gives %s', (_title, message, summary) => {
    expect(outputSummary(message)).toBe(summary);
  });

  it('cuts at a word within 280 code points', () => {
    const summary = outputSummary('wörd 😀 '.repeat(100))!;
    expect([...summary].length).toBeLessThanOrEqual(280);
    expect(summary).toMatch(/(wörd|😀)…$/u);
  });

  it('cuts one endless word, and never inside a character', () => {
    const summary = outputSummary('😀'.repeat(400))!;
    expect([...summary]).toHaveLength(280);
    expect(summary.isWellFormed()).toBe(true);
  });

  it('leaves exactly 280 characters alone', () => {
    expect(outputSummary('a'.repeat(280))).toBe('a'.repeat(280));
  });
});

describe('of a command', () => {
  const by = (message: string) => summaryBy('command', message);

  it('is the last paragraph, without the tags', () => {
    expect(by('Compiling 12 files\nok\n\nFixed the parser\nand its test.\n<signal>COMPLETE</signal>\n')).toBe(
      'Fixed the parser and its test.',
    );
    expect(summaryBy('claude', 'First.\n\nLast.')).toBe('First.');
  });

  it('is the last lines of output that has no paragraphs', () => {
    const log = Array.from({ length: 200 }, (_, index) => `line ${index}`).join('\n');
    const summary = by(`${log}\nDone.`)!;
    expect(summary).toMatch(/^line \d+ .* line 199 Done\.$/);
    expect(summary.length).toBeLessThanOrEqual(280);
    expect(by('x'.repeat(300))).toHaveLength(280);
  });
});
