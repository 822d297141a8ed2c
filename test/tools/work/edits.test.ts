import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, type Edit, lineEndsOf } from '../../../src/tools/work/edits.ts';

const MAX = 1024 * 1024;
/** Few letters, so that texts overlap, repeat and contain each other. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𝄞', ' ', '\n'), maxLength: 12 });
const wanted = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', '𝄞', ' ', '\n'),
  minLength: 1,
  maxLength: 4,
});

/** How often it stands there, overlapping places counted as well. */
function places(content: string, part: string): number {
  let count = 0;
  for (let at = content.indexOf(part); at >= 0; at = content.indexOf(part, at + 1)) count++;
  return count;
}

function edited(content: string | Buffer, ...edits: Edit[]): string {
  return applyEdits(Buffer.from(content), edits, MAX).toString();
}

describe('an exact edit', () => {
  it('replaces the one place there is, and nothing else', () => {
    fc.assert(
      fc.property(text, wanted, text, text, (before, oldString, after, newString) => {
        const content = `${before}${oldString}${after}`;
        fc.pre(places(content, oldString) === 1 && oldString !== newString);
        expect(edited(content, { oldString, newString })).toBe(`${before}${newString}${after}`);
      }),
    );
  });

  it('fails for what is not there', () => {
    fc.assert(
      fc.property(text, wanted, text, (content, oldString, newString) => {
        fc.pre(!content.includes(oldString) && oldString !== newString);
        expect(() => edited(content, { oldString, newString })).toThrow('not in the file');
        expect(() => edited(content, { oldString, newString, replaceAll: true })).toThrow('not in the file');
      }),
    );
  });

  it('fails for what is there twice, even where the two overlap, unless all are meant', () => {
    fc.assert(
      fc.property(text, wanted, text, text, text, (a, oldString, b, c, newString) => {
        const content = `${a}${oldString}${b}${oldString}${c}`;
        fc.pre(oldString !== newString);
        expect(() => edited(content, { oldString, newString })).toThrow('more than once');
        expect(edited(content, { oldString, newString, replaceAll: true })).toBe(
          content.split(oldString).join(newString),
        );
      }),
    );
    expect(() => edited('aaa', { oldString: 'aa', newString: 'b' })).toThrow('more than once');
  });

  it('is not satisfied by white space or letters that are nearly right', () => {
    const nearly = fc.constantFrom('a  b', 'a\tb', 'a b ', 'A b', 'a\u00a0b', 'a\nb');
    fc.assert(
      fc.property(nearly, (oldString) => {
        expect(() => edited('x\na b\ny', { oldString, newString: 'z' })).toThrow('not in the file');
      }),
    );
    // One letter, two spellings in Unicode.
    expect(() => edited('caf\u00e9', { oldString: 'cafe\u0301', newString: 'z' })).toThrow('not in the file');
  });

  it('must say what it replaces, and by something else', () => {
    expect(() => edited('a', { oldString: '', newString: 'b' })).toThrow('empty');
    expect(() => edited('a', { oldString: 'a', newString: 'a' })).toThrow('the same');
  });

  it('takes no half characters, which would be written as others', () => {
    for (const half of ['\ud834', 'a\udd1e']) {
      expect(() => edited('\ufffd a\ufffd', { oldString: half, newString: 'b' })).toThrow('half a character');
      expect(() => edited('b', { oldString: 'b', newString: half })).toThrow('half a character');
    }
  });

  it('leaves bytes alone that are no UTF-8', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (before, after) => {
        const isPlain = (bytes: Uint8Array) => !bytes.includes(64) && !bytes.includes(10);
        fc.pre(isPlain(before) && isPlain(after));
        const content = Buffer.concat([before, Buffer.from('@old@'), after]);
        const result = applyEdits(content, [{ oldString: '@old@', newString: '@newer@' }], MAX);
        expect(result).toEqual(Buffer.concat([before, Buffer.from('@newer@'), after]));
      }),
    );
  });

  it('keeps every line end of a file that has CRLF throughout, whichever the edit is written with', () => {
    const lines = fc.array(fc.stringMatching(/^[a-c]{0,3}$/), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(lines, fc.constantFrom('\n', '\r\n'), fc.nat(7), (before, end, at) => {
        const index = at % (before.length - 1);
        const named = before.map((line, number) => (number === index ? 'HERE' : line));
        const edit = {
          oldString: `HERE${end}${named[index + 1]}`,
          newString: ['one', 'two', named[index + 1]].join(end),
        };
        const result = edited(`${named.join('\r\n')}\r\n`, edit);
        const expected = [...named.slice(0, index), 'one', 'two', ...named.slice(index + 1), ''].join('\r\n');
        expect(result).toBe(expected);
      }),
    );
  });

  it('is exact about line ends where they are mixed, and in a file of plain ones', () => {
    expect(lineEndsOf(Buffer.from('a\r\nb\nc\r\n'))).toBe('mixed');
    expect(() => edited('a\r\nb\nc\r\n', { oldString: 'a\nb', newString: 'x' })).toThrow('not in the file');
    expect(edited('a\r\nb\nc\r\n', { oldString: 'a\r\nb', newString: 'x\ny' })).toBe('x\ny\nc\r\n');
    expect(() => edited('a\nb\n', { oldString: 'a\r\nb', newString: 'x' })).toThrow('not in the file');
  });

  it('may not make a file of any size', () => {
    const all = { oldString: 'a', newString: 'b'.repeat(2000), replaceAll: true };
    expect(() => applyEdits(Buffer.alloc(1000, 'a'), [all], MAX)).toThrow('may have');
    expect(applyEdits(Buffer.alloc(500, 'a'), [all], MAX)).toHaveLength(1_000_000);
  });

  it('is not made in a million places', () => {
    const all = { oldString: 'a', newString: 'b', replaceAll: true };
    expect(() => applyEdits(Buffer.alloc(1_000_000, 'a'), [all], MAX)).toThrow('100000 places');
    expect(applyEdits(Buffer.alloc(100_000, 'a'), [all], MAX)).toEqual(Buffer.alloc(100_000, 'b'));
  });
});

describe('several edits', () => {
  it('are each made on the result of the one before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(wanted, text, fc.boolean()), { minLength: 1, maxLength: 5 }),
        text,
        (raw, content) => {
          const edits = raw.map(([oldString, newString, replaceAll]) => ({
            oldString,
            newString,
            replaceAll,
          }));
          const oneByOne = () => edits.reduce((now, edit) => edited(now, edit), content);
          const isFine = succeeds(oneByOne);
          if (isFine) expect(edited(content, ...edits)).toBe(oneByOne());
          else expect(() => edited(content, ...edits)).toThrow();
        },
      ),
    );
    expect(edited('a', { oldString: 'a', newString: 'b' }, { oldString: 'b', newString: 'c' })).toBe('c');
  });

  it('name the one that failed', () => {
    const edits = [
      { oldString: 'a', newString: 'b' },
      { oldString: 'x', newString: 'y' },
    ];
    expect(() => edited('a', ...edits)).toThrow('Edit 2 of 2');
  });
});

function succeeds(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
