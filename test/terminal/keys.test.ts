import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyReader, type Key } from '../../src/terminal/keys.ts';

const read = (...chunks: (string | Buffer)[]): Key[] => {
  const reader = createKeyReader();
  return chunks.flatMap((chunk) => reader(Buffer.from(chunk)));
};

describe('what is typed', () => {
  it('is characters, and keys by their names', () => {
    expect(read('aß\x1b[A\x1bOB\r\x7f\t\x03\x1b[5~')).toEqual([
      { text: 'aß' },
      ...['up', 'down', 'enter', 'backspace', 'tab', 'interrupt', 'page_up'].map((name) => ({ name })),
    ]);
  });

  it('knows Escape from the beginning of a sequence', () => {
    expect(read('\x1b')).toEqual([{ name: 'escape' }]);
    expect(read('\x1b', 'q')).toEqual([{ name: 'escape' }, { text: 'q' }]);
    expect(read('\x1b[', 'B')).toEqual([{ name: 'down' }]);
  });

  it('passes over sequences and controls that mean nothing here', () => {
    expect(read('\x1b[200~a\x1b[15;2~\x01b')).toEqual([{ text: 'a' }, { text: 'b' }]);
  });

  it('is the same however the terminal cuts it, and no bytes are too much', () => {
    const typed = fc.array(fc.constantFrom('j', 'ß', '漢', '👩‍🚀', '\x1b[A', '\x1b[6~', '\r', '\x7f'), {
      maxLength: 30,
    });
    const joined = (keys: Key[]) => keys.map((key) => ('text' in key ? key.text : `<${key.name}>`)).join('');
    fc.assert(
      fc.property(typed, fc.nat(), (keys, at) => {
        const bytes = Buffer.from(keys.join(''));
        const cut = at % (bytes.length + 1);
        // Right behind an escape a cut makes it the key of that name: that is what a terminal means by it.
        fc.pre(bytes[cut - 1] !== 0x1b);
        expect(joined(read(bytes.subarray(0, cut), bytes.subarray(cut)))).toBe(joined(read(bytes)));
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void read(Buffer.from(bytes))));
  });
});
