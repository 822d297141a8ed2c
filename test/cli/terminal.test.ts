import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf } from '../../src/terminal/call.ts';
import { createKeyReader } from '../../src/terminal/keys.ts';
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

describe('a call to somebody who looks elsewhere', () => {
  it('is a bell, and words that nothing of others breaks out of, through tmux too', () => {
    const words = 'blocked: a\x07b\x1b]0;t\x07\x9cc';
    expect(callOf(words, { TERM: 'xterm' })).toBe('\x07\x1b]9;Pulse: blocked: abc\x07');
    expect(callOf(words, { TERM: 'screen', TMUX: '/tmp/tmux' })).toBe(
      '\x07\x1bPtmux;\x1b\x1b]9;Pulse: blocked: abc\x07\x1b\\',
    );
    expect(callOf(words, { TERM: 'linux' })).toBe('\x07');
  });

  it('needs to know where they look, as the terminal says it', () => {
    const read = createKeyReader();
    expect(read(Buffer.from('\x1b[Oa\x1b[I'))).toEqual([{ name: 'blur' }, { text: 'a' }, { name: 'focus' }]);
  });
});
