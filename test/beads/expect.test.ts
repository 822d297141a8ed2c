import { describe, expect, it } from 'vitest';
import { judgeExpect, type Observed, parseExpect } from '../../src/loops/beads/graph/expect.ts';

const judge = (text: string | undefined, observed: Observed, isFailureWanted = false) =>
  judgeExpect(parseExpect(text), observed, { isFailureWanted });

describe('what a check is held to', () => {
  it.each([
    [undefined, { exit: 0, output: '' }, true],
    [undefined, { exit: 1, output: '' }, false],
    [undefined, { exit: null, output: '' }, false],
    ['3 passed', { exit: 0, output: 'a\n3 passed\n' }, true],
    ['3 passed', { exit: 1, output: '3 passed' }, false],
    ['3 passed', { exit: 0, output: '4 passed' }, false],
    ['/^\\d+ passed$/', { exit: 0, output: 'a\n3 passed\n' }, true],
    ['/^\\d+ passed$/', { exit: 2, output: '3 passed' }, false],
    ['/^\\d+ passed$/', { exit: 0, output: 'no' }, false],
    ['exit 3', { exit: 3, output: '' }, true],
    ['exit 3', { exit: 0, output: '' }, false],
    ['exit 3', { exit: null, output: '' }, false],
    ['/usr/bin', { exit: 0, output: 'in /usr/bin' }, true],
    ['exit 3 soon', { exit: 0, output: 'exit 3 soon' }, true],
    ['/', { exit: 0, output: 'a/b' }, true],
  ])('%j of %j is %j', (text, observed, isMet) => {
    expect(judge(text, observed) === null).toBe(isMet);
  });

  it('is the output alone where a failure is wanted', () => {
    expect(judge('not yet', { exit: 1, output: 'not yet' }, true)).toBeNull();
    expect(judge('/not/', { exit: 1, output: 'something else' }, true)).toContain('does not match');
    expect(judge('exit 2', { exit: 1, output: '' }, true)).toContain('exit 1');
  });

  it('is refused when it can never be met', () => {
    for (const text of ['', '/(/', 'exit 256', `/${'a'.repeat(2_000)}/`])
      expect(() => parseExpect(text), text).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  it('does not hold everything up for a pattern that goes astray', () => {
    expect(judge('/^(a+)+$/', { exit: 0, output: `${'a'.repeat(60)}!` })).toMatch(/took longer than 1 s/);
  });
});
