/** A conversation that continues in another transcript: the order of reading makes no difference. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { importTranscripts } from '../../src/context/import/import-transcripts.ts';
import { createSlices } from '../../src/context/slice/slice.ts';
import { openSliceKeys } from '../../src/context/slice/slice-keys.ts';
import { redact } from '../../src/domain/redact.ts';
import type { Store } from '../../src/store/store.ts';
import { listTurnHeads } from '../../src/store/turns.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { createRandom } from '../fakes/random.ts';
import { claude, result, said, used, uuid, writeLines } from './transcripts.ts';

const folder = mkdtempSync(join(tmpdir(), 'pulse-parents-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const write = (lines: readonly object[]) => writeLines(join(folder, `${files++}.jsonl`), lines);

const read = (store: Store, paths: string[], projectId: string) =>
  importTranscripts(store, { projectId, root: folder, paths, environment: {}, redact });

/** What a project knows: each turn in its place, and the slice around each. */
async function graphOf(store: Store, projectId: string) {
  const heads = await store.read((db) => listTurnHeads(db, { projectId, after: null, limit: undefined }));
  const keys = await openSliceKeys(store);
  const anchorIds = heads.map(({ id }) => id);
  const slices = await store.read((db) => createSlices(db, { projectId, anchorIds, keys }));
  return {
    places: heads.map(({ id, parent_id, depth }) => [id, parent_id, depth]),
    slices: slices.map(({ slice_id }) => slice_id),
  };
}

const BEGUN = [
  claude(1, null, said('user', 'Build the login')),
  claude(2, 1, said('assistant', 'I look at src/login.ts first.')),
  claude(3, 2, used()),
  claude(4, 3, result('tool output')),
];
/** A session that was resumed: it names the last entry of the one before, which is no turn. */
const RESUMED = [
  claude(5, 4, { type: 'attachment', attachment: {} }),
  claude(6, 5, said('user', 'Continue')),
  claude(7, 6, said('assistant', 'Done: all tests pass.')),
];
const RESUMED_AGAIN = [claude(8, 5, said('user', 'Another way')), claude(9, 7, said('user', 'And more'))];

onBothStores((open) => {
  describe('a conversation in several transcripts', () => {
    it('is one tree, in one command or in several, in any order', async () => {
      const store = await open();
      const [a, b, c] = [write(BEGUN), write(RESUMED), write(RESUMED_AGAIN)];
      await read(store, [a, b, c], 'together');
      const whole = await graphOf(store, 'together');
      expect(whole.places).toEqual([
        [uuid(1), null, 0],
        [uuid(2), uuid(1), 1],
        [uuid(6), uuid(2), 2],
        [uuid(7), uuid(6), 3],
        [uuid(8), uuid(2), 2],
        [uuid(9), uuid(7), 4],
      ]);
      const orders = [
        [c, b, a],
        [b, a, c],
        [c, a, b],
        [b, c, a],
        [a, c, b],
      ];
      for (const [at, order] of orders.entries()) {
        await read(store, order, `one-${at}`);
        for (const path of order) await read(store, [path], `many-${at}`);
        expect(await graphOf(store, `one-${at}`), order.join()).toEqual(whole);
        expect(await graphOf(store, `many-${at}`), order.join()).toEqual(whole);
      }
    });

    it('begins at what is there, as long as what it continues is not', async () => {
      const store = await open();
      const path = write(RESUMED);
      await read(store, [path], 'p');
      expect((await graphOf(store, 'p')).places).toEqual([
        [uuid(6), null, 0],
        [uuid(7), uuid(6), 1],
      ]);
      await read(store, [write(BEGUN)], 'other');
      expect((await graphOf(store, 'p')).places[0]).toEqual([uuid(6), null, 0]);
      await read(store, [write(BEGUN)], 'p');
      // What comes later below a turn that has moved stands as deep as it does.
      await read(store, [write([...RESUMED, claude(10, 7, said('user', 'Last'))])], 'p');
      expect((await graphOf(store, 'p')).places.at(-1)).toEqual([uuid(10), uuid(7), 4]);
    });

    it('that goes in a circle is opened in the same place, in any order', async () => {
      const store = await open();
      const one = write([claude(2, 3, said('user', 'two')), claude(4, 2, said('user', 'four'))]);
      const two = write([claude(3, 4, said('user', 'three'))]);
      const own = write([claude(5, 5, said('user', 'itself'))]);
      await read(store, [one, two, own], 'a');
      for (const path of [own, two, one]) await read(store, [path], 'b');
      const { places } = await graphOf(store, 'a');
      expect(places).toEqual([
        [uuid(2), null, 0],
        [uuid(3), uuid(4), 2],
        [uuid(4), uuid(2), 1],
        [uuid(5), null, 0],
      ]);
      expect(await graphOf(store, 'b')).toEqual(await graphOf(store, 'a'));
      await read(store, [two, one], 'a');
      expect((await graphOf(store, 'a')).places).toEqual(places);
    });

    it('is the tree that one transcript of all of it makes, however it is divided', async () => {
      const store = await open();
      let project = 0;
      await fc.assert(
        fc.asyncProperty(fc.nat(), async (seed) => {
          const random = createRandom(seed);
          const below = (most: number) => Math.floor(random() * most);
          const kinds = [
            () => said('user', 'asks'),
            () => said('assistant', 'says'),
            used,
            () => result('x'),
          ];
          const lines = Array.from({ length: 24 }, (_, at) =>
            claude(at + 1, at === 0 ? null : 1 + below(at), kinds[below(4)]!()),
          );
          lines[0] = claude(1, null, said('user', 'begins'));
          const parts: object[][] = [[], [], [], []];
          for (const line of lines) parts[below(parts.length)]!.push(line);
          const paths = parts.filter((part) => part.length > 0).map(write);
          paths.sort(() => random() - 0.5);
          const name = `p${project++}`;
          await read(store, [write(lines)], `${name}-whole`);
          for (const path of paths) await read(store, [path], name);
          expect(await graphOf(store, name)).toEqual(await graphOf(store, `${name}-whole`));
        }),
        { numRuns: 12 },
      );
    });
  });
});
