import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLineSplitter } from '../../src/process/lines.ts';

function split(chunks: Buffer[], maxBytes = 1024): string[] {
  const lines: string[] = [];
  const splitter = createLineSplitter(maxBytes, (line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

it('gives the same lines however the bytes are cut into chunks', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(50)), (text, cuts) => {
      const bytes = Buffer.from(text.toWellFormed());
      const chunks: Buffer[] = [];
      let from = 0;
      for (const size of cuts) {
        chunks.push(bytes.subarray(from, from + size));
        from += size;
      }
      chunks.push(bytes.subarray(from));
      const expected = bytes.toString().split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(split(chunks, 100_000)).toEqual(expected);
    }),
  );
});

it('never hands out more than the cap and the mark', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 })),
      fc.integer({ min: 1, max: 64 }),
      (chunks, cap) => {
        // A byte that is no UTF-8 becomes one character of three bytes.
        for (const line of split(
          chunks.map((chunk) => Buffer.from(chunk)),
          cap,
        )) {
          expect(line.replace(/ … \[cut: \d+ more bytes in this line\]$/, '').length).toBeLessThanOrEqual(
            cap,
          );
        }
      },
    ),
  );
});

it('does not cut through a character', () => {
  expect(split([Buffer.from('aéé\nb')], 4)).toEqual(['aé … [cut: 1 more bytes in this line]', 'b']);
});
