import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkScene, type WorkScene } from './scene.ts';

let scene: WorkScene;

beforeEach(() => {
  scene = createWorkScene({ limits: { maxReadLines: 50, maxOutputBytes: 4000 } });
});
afterEach(() => scene[Symbol.asyncDispose]());

async function read(input: { path: string; offset?: number; limit?: number }): Promise<string> {
  const reply = await scene.call('read_file', input);
  expect(reply.ok, String(reply.output)).toBe(true);
  return reply.output as string;
}

describe('read_file', () => {
  it('shows exactly the lines asked for, as they can be searched for', async () => {
    const lines = fc.array(fc.stringMatching(/^[ab\té]{0,5}$/), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        async (all, from, count) => {
          fc.pre(from <= all.length);
          scene.write('a', `${all.join('\n')}\n`);
          const output = await read({ path: 'a', offset: from, limit: count });
          const shown = output.split('\n').filter((line) => !line.startsWith('['));
          expect(shown).toEqual(
            all.slice(from - 1, from - 1 + count).map((line, i) => `${from + i}\t${line}`),
          );
          expect(output.includes('continue with offset')).toBe(from - 1 + count < all.length);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('hides the CR of a file that has CRLF throughout, and shows it where line ends are mixed', async () => {
    scene.write('crlf', '\ufeffa\r\nb\r\n');
    expect(await read({ path: 'crlf' })).toBe('1\ta\n2\tb');
    scene.write('mixed', 'a\r\nb\nc');
    expect(await read({ path: 'mixed' })).toBe('1\ta\r\n2\tb\n3\tc');
  });

  it('cuts long lines and long files, and says where to continue', async () => {
    scene.write('wide', `${'é'.repeat(5000)}\nnext\n`);
    const wide = await read({ path: 'wide' });
    expect(wide).toContain('[… 6000 more bytes in this line]');
    expect(wide).not.toContain('\ufffd');
    scene.write('long', 'x\n'.repeat(200));
    expect(await read({ path: 'long' })).toMatch(/\[lines 1 to 50 of 200; continue with offset 51\]$/);
    expect((await read({ path: 'long', limit: 1000 })).split('\n')).toHaveLength(51);
  });

  it('shows no more bytes than it may', async () => {
    scene.write('heavy', `${'x'.repeat(1500)}\n`.repeat(10));
    const heavy = await read({ path: 'heavy' });
    expect(heavy).toMatch(/\[lines 1 to 3 of 10; continue with offset 4\]$/);
    expect(await read({ path: 'heavy', offset: 10 })).toMatch(/^10\tx+$/);
  });

  it('says of an empty file that it is empty, and of a line behind the end that there is none', async () => {
    scene.write('empty', '');
    expect(await read({ path: 'empty' })).toBe('[empty is empty]');
    scene.write('two', 'a\nb');
    expect(await scene.call('read_file', { path: 'two', offset: 3 })).toMatchObject({ ok: false });
    expect(await scene.call('read_file', { path: 'none' })).toMatchObject({
      ok: false,
      output: 'There is no none.',
    });
    expect(await scene.call('read_file', { path: '.' })).toMatchObject({ ok: false });
  });

  it('does not count as read what it did not show', async () => {
    scene.write('two', 'a\nb');
    await scene.call('read_file', { path: 'two', offset: 3 });
    const edit = { path: 'two', oldString: 'a', newString: 'c' };
    expect(await scene.call('edit_file', edit)).toMatchObject({ ok: false });
  });
});
