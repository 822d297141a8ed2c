import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIndexer, type Indexer } from '../../../src/context/code-index/indexer.ts';
import type { FromIndexer } from '../../../src/context/code-index/messages.ts';

let folder: string;
let asked = 0;
const answers = new Map<number, (answer: FromIndexer) => void>();

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-indexer-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(indexer: Indexer, index: number): { root: string; names: Uint8Array } {
  const root = join(folder, String(index));
  mkdirSync(root);
  const paths = Array.from({ length: 10 }, (_, number) => `f${number}.ts`);
  for (const path of paths) writeFileSync(join(root, path), `export const harbour${index} = '${path}';\n`);
  indexer.receive({ kind: 'open', index, root });
  return { root, names: Buffer.from(paths.map((path) => `${path}\0`).join('')) };
}

function ask(
  indexer: Indexer,
  { index, query = `harbour${index}`, waitMs = 5_000 }: { index: number; query?: string; waitMs?: number },
): Promise<FromIndexer> {
  const question = asked++;
  const answer = new Promise<FromIndexer>((resolve) => answers.set(question, resolve));
  indexer.receive({ kind: 'ask', index, question, query, limit: 5, waitMs });
  return answer;
}

const create = (bounds: { maxChunks?: number; maxWeight?: number } = {}) =>
  createIndexer((answer) => answers.get(answer.question)!(answer), bounds);

describe('the indexer', () => {
  it('does not make anybody wait for an index that has nothing yet', async () => {
    const indexer = create();
    const { names } = open(indexer, 1);
    expect(await ask(indexer, { index: 1 })).toMatchObject({ state: 'lexical', hits: [] });
    indexer.receive({ kind: 'files', index: 1, names });
    expect(await ask(indexer, { index: 1, waitMs: 0 })).toMatchObject({
      state: expect.stringMatching(/lexical|partial/),
    });
  });

  it('answers a question as soon as the files have been read, though there is time', async () => {
    const indexer = create();
    const { root, names } = open(indexer, 1);
    indexer.receive({ kind: 'files', index: 1, names });
    await readiness(indexer, 1);
    writeFileSync(join(root, 'f3.ts'), 'export const changed = 1;\nexport const harbour1 = 3;\n');
    indexer.receive({ kind: 'files', index: 1, names });
    const before = performance.now();
    expect((await ask(indexer, { index: 1, waitMs: 60_000 })).state).toBe('ready');
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  it.each([
    ['chunks', { maxChunks: 25 }],
    // Ten files of a worktree weigh some three hundred.
    ['words', { maxWeight: 800 }],
  ])(
    'forgets the worktree that was asked longest ago when there are too many %s, and reads it again when asked',
    async (_, bounds) => {
      const indexer = create(bounds);
      const known = [1, 2, 3].map((index) => ({ index, ...open(indexer, index) }));
      for (const { index, names } of known) {
        indexer.receive({ kind: 'files', index, names });
        await readiness(indexer, index);
      }
      // A new file that nobody has listed: only who reads again finds what is in the others.
      for (const { index, root } of known) {
        writeFileSync(join(root, 'f5.ts'), `export const glacier${index} = 1;\n`);
        writeFileSync(join(root, 'new.ts'), `export const volcano${index} = 1;\n`);
      }
      expect((await ask(indexer, { index: 3, query: 'volcano3' })).hits).toEqual([]);
      // The first answer does not wait for the reading that it begins.
      const { hits } = await readiness(indexer, 1, 'glacier1');
      expect(hits).toMatchObject([{ path: 'f5.ts' }]);
    },
  );

  it('answers whoever asks a worktree that was closed', async () => {
    const indexer = create();
    const { names } = open(indexer, 1);
    indexer.receive({ kind: 'files', index: 1, names });
    indexer.receive({ kind: 'close', index: 1 });
    expect(await ask(indexer, { index: 1 })).toMatchObject({ state: 'lexical', hits: [] });
  });
});

async function readiness(indexer: Indexer, index: number, query?: string): Promise<FromIndexer> {
  for (;;) {
    const answer = await ask(indexer, { index, query });
    if (answer.state === 'ready') return answer;
  }
}
