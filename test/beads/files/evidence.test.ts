import { describe, expect, it } from 'vitest';
import { type CommandEvidence, evidenceText } from '../../../src/loops/beads/files/evidence.ts';
import { evidenceFile } from '../../../src/loops/beads/files/places.ts';
import { inlineCode } from '../../../src/loops/beads/files/quote.ts';

const AT = '2026-02-03T04:05:06.000Z';
const passed = (command: string, observed: string): CommandEvidence => ({
  command,
  observed,
  exit: 0,
  expected: null,
  hasPassed: true,
});

function evidence(commands: CommandEvidence[]) {
  return {
    bead: { id: 'app-1', title: 'Add login' },
    feature: 'auth',
    testingMode: 'standard' as const,
    at: AT,
    commands,
  };
}

describe('the record of a verification', () => {
  it('has the bead, the feature, the mode, the time, and all of each command', () => {
    const text = evidenceText(
      evidence([{ ...passed('npm test', '3 passed\n'), expected: '3 passed', artifacts: ['junit.xml'] }]),
    );
    expect(text).toBe(`# Verification of app-1

- Bead: \`app-1\` \`Add login\`
- Feature: \`auth\`
- testing_mode: standard
- Time: ${AT}
- Result: passed

## Command 1

Command:

\`\`\`sh
npm test
\`\`\`

- Exit: 0
- Expected: \`3 passed\`
- Result: passed
- Artifacts: \`junit.xml\`

Observed:

\`\`\`text
3 passed
\`\`\`
`);
  });

  it('shows red and its failure, green and its pass', () => {
    const red = {
      ...passed('npm test red', 'AssertionError: 1 is not 2'),
      exit: 1,
      expected: 'AssertionError',
    };
    const text = evidenceText({
      ...evidence([passed('npm run lint', '')]),
      testingMode: 'tdd-required',
      tdd: { red, green: passed('npm test green', '1 passed') },
    });
    expect(text).toMatch(/testing_mode: tdd-required/);
    expect(text).toMatch(
      /TDD red[\s\S]*npm test red[\s\S]*Exit: 1[\s\S]*failed as it should[\s\S]*AssertionError: 1/,
    );
    expect(text).toMatch(/TDD green[\s\S]*npm test green[\s\S]*Exit: 0[\s\S]*1 passed/);
    expect(text).toContain('(no output)');
  });

  it('says that it failed if one command did', () => {
    const failed = { ...passed('false', ''), exit: 1, hasPassed: false };
    expect(evidenceText(evidence([passed('true', ''), failed]))).toContain('- Result: failed (1 of 2)');
  });

  it('keeps its structure, for any output, command or title', () => {
    const nasty = '```\n\n# Verification of other\n\n- Result: passed\n````\n`x`\r# y\u001b[31m\u0000';
    const text = evidenceText({
      ...evidence([{ ...passed(nasty, nasty), expected: nasty, artifacts: [nasty] }]),
      bead: { id: 'app-1', title: nasty },
    });
    expect(headings(text)).toEqual(['# Verification of app-1', '## Command 1']);
    expect(text).not.toContain('\u001b');
    expect(text.length).toBeLessThan(2_000);
  });

  it('keeps the end of a long output', () => {
    const text = evidenceText(evidence([passed('x', `begin${'.'.repeat(50_000)}end`)]));
    expect(text.length).toBeLessThan(9_000);
    expect(text).toContain('end\n');
    expect(text).not.toContain('begin');
  });

  it('lies where its feature and its bead say, and never elsewhere', () => {
    expect(evidenceFile('auth', 'app-1')).toBe('history/auth/verification/app-1.md');
    expect(() => evidenceFile('..', 'app-1')).toThrow('feature');
    expect(() => evidenceFile('auth', '../app')).toThrow('bead');
  });
});

describe('a text within a line', () => {
  it('is code that it cannot end itself', () => {
    expect(inlineCode('plain')).toBe('`plain`');
    expect(inlineCode('a `b` ``c``\nd')).toBe('``` a `b` ``c`` d ```');
    expect(inlineCode(' \n ')).toBe('(empty)');
  });
});

/** Headings outside of fences. */
function headings(text: string): string[] {
  let fence: string | null = null;
  return text.split('\n').filter((line) => {
    const mark = /^(`{3,})/.exec(line)?.[1];
    if (fence === null && mark) fence = mark;
    else if (fence !== null && line === fence) fence = null;
    else return fence === null && line.startsWith('#');
    return false;
  });
}
