import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeControls, withoutControls, withoutSequences } from '../../src/domain/control-characters.ts';

describe('withoutSequences', () => {
  it.each([
    ['a\x1b[31mred\x1b[0m', 'ared'],
    ['\x1b]0;title\x07b', 'b'],
    ['\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x9b31mx\x9d0;t\x9cy', 'xy'],
    ['\x1bP1$q\x1b\\x\x1b_apc\x1b\\y\x1b^pm\x1b\\z', 'xyz'],
    ['\x1bcreset\x1b(Bx', 'resetx'],
    ['\x1b[12', '12'],
    ['\x1b]never closed', ']never closed'],
    ['\x1b', ''],
    ['plain', 'plain'],
  ])('makes %j to %j', (text, expected) => {
    expect(withoutSequences(text)).toBe(expected);
  });

  it('does what Node.js does with sequences that are whole', () => {
    const sequence = fc.oneof(
      fc
        .tuple(fc.array(fc.nat(255), { maxLength: 4 }), fc.constantFrom(...'mHJKABCDhl'))
        .map(([numbers, end]) => `\x1b[${numbers.join(';')}${end}`),
      fc
        .tuple(fc.stringMatching(/^[\w ;/:.-]{0,20}$/), fc.constantFrom('\x07', '\x1b\\', '\x9c'))
        .map(([text, end]) => `\x1b]0;${text}${end}`),
    );
    const words = fc.stringMatching(/^[a-zA-Z0-9 .,\n]{0,20}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(words, sequence), { maxLength: 12 }), (pairs) => {
        const text = pairs.flat().join('');
        expect(withoutSequences(text)).toBe(stripVTControlCharacters(text));
      }),
    );
  });

  it.each(['\x1b]', '\x1b[', '\x1b[1;', '\x1b', '\x9d', '\x1bP', '\x1b]x\x1b'])(
    'takes a megabyte of %j in its stride',
    (piece) => {
      const text = piece.repeat(2 ** 20 / piece.length);
      const began = performance.now();
      withoutSequences(text);
      expect(performance.now() - began).toBeLessThan(1000);
    },
  );
});

it('nothing that a terminal acts on is left, by either way', () => {
  const acted = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(withoutControls(text)).not.toMatch(acted);
      expect(escapeControls(text)).not.toMatch(acted);
      expect(JSON.parse(escapeControls(JSON.stringify(text)))).toBe(text);
    }),
  );
});
