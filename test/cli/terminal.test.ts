import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStyle, wantsColor } from '../../src/terminal/style.ts';
import { displayWidth, sanitizeForTerminal, sanitizeLine, shorten } from '../../src/terminal/text.ts';

describe('text of others on a terminal', () => {
  it('loses everything that a terminal would act on', () => {
    expect(sanitizeForTerminal('a\x1b[31mred\x1b[0m\x1b]0;title\x07b\rc\x08d')).toBe('aredbcd');
    expect(sanitizeForTerminal('a\x1b[2Jb\x9b31mc')).not.toMatch(/\p{Cc}/u);
    expect(sanitizeForTerminal('safe\u202Etxt.exe')).toBe('safetxt.exe');
    expect(sanitizeForTerminal('one\r\ntwo\tthree')).toBe('one\ntwo\tthree');
  });

  it('keeps no control character at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(sanitizeForTerminal(text)).not.toMatch(/(?![\n\t])\p{Cc}/u);
        expect(sanitizeLine(text)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  it('loses its secrets', () => {
    expect(sanitizeForTerminal('key sk-ant-REDACTED')).not.toContain('abcdefghijkl');
  });

  it('is cut to its columns, wide characters counted twice', () => {
    expect(shorten('hello world', 8)).toBe('hello w…');
    expect(shorten('short', 8)).toBe('short');
    expect(displayWidth('日本')).toBe(4);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(displayWidth('\x1b[31mred\x1b[39m')).toBe(3);
    expect(displayWidth(shorten('日本語のテキスト', 7))).toBeLessThanOrEqual(7);
  });
});

describe('colour', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
  ])('terminal %s with %j: %s', (isTerminal, environment, expected) => {
    expect(wantsColor(isTerminal, environment)).toBe(expected);
  });

  it('leaves plain text alone when it is off', () => {
    expect(createStyle(false).red('x')).toBe('x');
  });
});
