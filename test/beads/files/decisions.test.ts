import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decisionIdsIn, parseDecisions } from '../../../src/loops/beads/files/decisions.ts';

describe('the ids that a text names', () => {
  it('are found in prose, in links and in brackets', () => {
    expect(decisionIdsIn('Keep D1 and (D12), see CONTEXT.md#D3. Not D1 again; D4.')).toEqual([
      'D1',
      'D12',
      'D3',
      'D4',
    ]);
  });

  it('are not parts of words, paths or names', () => {
    expect(decisionIdsIn('R2D2 draws with D3.js in src/D1/x.ts at 0xD1, D1a and d2')).toEqual([]);
  });

  it('include what a range spans, and both of two with a slash', () => {
    expect(decisionIdsIn('D1-D3 hold').toSorted()).toEqual(['D1', 'D2', 'D3']);
    expect(decisionIdsIn('D7–D8, D5/D6')).toEqual(['D7', 'D8', 'D5', 'D6']);
    expect(decisionIdsIn('D1-D999999')).toEqual(['D1', 'D999999']);
  });
});

describe('the decisions of a CONTEXT.md', () => {
  it('are the sections below headings, up to the next of the same level', () => {
    const decisions = parseDecisions(
      '# Context\n\n### D1: Tokens\n\nUse JWT.\n\n#### Why\n\nIt is short.\n\n### D2 — Store\n\nSQLite.\n\n## Open\n\nNothing.\n',
    );
    expect(decisions.get('D1')).toBe('### D1: Tokens\n\nUse JWT.\n\n#### Why\n\nIt is short.');
    expect(decisions.get('D2')).toBe('### D2 — Store\n\nSQLite.');
    expect(decisions.size).toBe(2);
  });

  it('are list items with all that belongs to them', () => {
    const decisions = parseDecisions(
      '- D1: Use JWT\n  and rotate them\n  - every day\n- **D2**: SQLite\n\n  Only one file.\n\nText after.\n1. D3 No cookies\n* [x] `D4` Done\n',
    );
    expect(decisions.get('D1')).toBe('- D1: Use JWT\n  and rotate them\n  - every day');
    expect(decisions.get('D2')).toBe('- **D2**: SQLite\n\n  Only one file.');
    expect(decisions.get('D3')).toBe('1. D3 No cookies');
    expect(decisions.get('D4')).toBe('* [x] `D4` Done');
  });

  it('are paragraphs and rows of tables', () => {
    const decisions = parseDecisions(
      '**D1** Use JWT\nfor all.\n**D2:** SQLite\n\nD3: No cookies\n\n| id | what |\n|---|---|\n| D4 | Fast |\n| D5 | Small |\n',
    );
    expect([...decisions]).toEqual([
      ['D1', '**D1** Use JWT\nfor all.'],
      ['D2', '**D2:** SQLite'],
      ['D3', 'D3: No cookies'],
      ['D4', '| D4 | Fast |'],
      ['D5', '| D5 | Small |'],
    ]);
  });

  it('are not sentences that begin with an id, nor examples in code', () => {
    expect([...parseDecisions('D1 and D2 conflict.\n\n```\n### D3: no\n```\n').keys()]).toEqual([]);
    expect(parseDecisions('- D1 says so\n\n## D1\n\nReal.\n').get('D1')).toBe('## D1\n\nReal.');
  });

  it('have both texts where they are written down twice', () => {
    expect(parseDecisions('- D1: Use JWT\n\n## D1: Tokens\n\nLong.\n').get('D1')).toBe(
      '- D1: Use JWT\n\n## D1: Tokens\n\nLong.',
    );
  });

  it('have three texts at most', () => {
    const lines = [1, 2, 3, 4, 5].map((number) => `- D1: says ${number}`);
    expect(parseDecisions(lines.join('\n')).get('D1')?.split('\n\n')).toEqual(lines.slice(0, 3));
  });

  it('are read from any text, quickly', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('D1', ' ', '\n', '- ', '# ', '**', '```', ':', '|')), (parts) => {
        for (const text of parseDecisions(parts.join('')).values())
          expect(parts.join('')).toContain(text.slice(0, 2));
      }),
    );
    const began = performance.now();
    parseDecisions('- D1: x\n'.repeat(100_000));
    parseDecisions('D'.repeat(800_000));
    decisionIdsIn('D1-'.repeat(300_000));
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
