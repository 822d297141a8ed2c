import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { queryRag } from '../../src/context/search/query-rag.ts';
import { createTurnMeaning } from '../../src/context/search/turn-meaning.ts';
import { createSlice } from '../../src/context/slice/slice.ts';
import { openSliceKeys } from '../../src/context/slice/slice-keys.ts';
import { contentHash } from '../../src/context/turns.ts';
import type { Store } from '../../src/store/store.ts';
import { insertTurns } from '../../src/store/turns.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { at, uuid } from './transcripts.ts';

type Said = readonly [parent: number | null, content: string];

function insert(store: Store, said: readonly Said[], projectId = 'project'): Promise<number> {
  const turns = said.map(([parent, content], number) => ({
    ...{ id: uuid(number), parent_id: parent === null ? null : uuid(parent), project_id: projectId },
    ...{ session_id: null, iteration_number: null, role: 'user', phase: 'planning', depth: 0 },
    ...{ content, content_hash: contentHash(content), salience: 0.5, created_at: at(number) },
  }));
  return store.tx('test', (db) => insertTurns(db, turns));
}

/** The model is waited for. */
const ASKED = { projectId: 'project', slice: null, patienceMs: 60_000 };

function searcher(store: Store) {
  const meaning = createTurnMeaning();
  onTestFinished(() => meaning[Symbol.asyncDispose]());
  return async (goal: string, more: Partial<Parameters<typeof queryRag>[1]> = {}) =>
    (await queryRag({ store, meaning }, { ...ASKED, goal, ...more })).map(({ turn_id }) => turn_id);
}

const TALK: Said[] = [
  [null, 'Please fix the refreshToken of the login'],
  [0, 'Done, it works.'],
  [null, 'The plot has the wrong colours'],
  [2, 'I changed the palette'],
  [null, 'Unrelated words about gardening'],
];

const answers = new Map<string, string[]>();

onBothStores((open) => {
  describe('a search for turns', () => {
    it('splits identifiers, takes off endings, and finds what stands beside', async () => {
      const store = await open();
      await insert(store, TALK);
      const search = searcher(store);
      expect(await search('refreshing tokens')).toEqual([uuid(0), uuid(1)]);
      expect(await search('PALETTES')).toEqual([uuid(3), uuid(2)]);
      expect(await search('nothing-of-the-kind')).toEqual([]);
      expect(await search('')).toEqual([]);
      expect(await search('the')).toEqual([]);
    });

    it('finds what has come since, and nothing of another project', async () => {
      const store = await open();
      await insert(store, TALK);
      const search = searcher(store);
      await search('anything');
      await insert(store, [[null, 'The colours of another project']], 'other');
      expect(await search('colours')).toEqual([uuid(2), uuid(3)]);
      await insert(store, [...TALK, [null, 'Colours again']]);
      expect((await search('colours')).sort()).toEqual([uuid(2), uuid(3), uuid(5)]);
      expect(await search('colours', { except: [uuid(5)] })).toEqual([uuid(2), uuid(3)]);
    });

    it('stays within a slice, and refuses one that Pulse did not make', async () => {
      const store = await open();
      await insert(store, TALK);
      const search = searcher(store);
      const keys = await openSliceKeys(store);
      const slice = (await store.read((db) =>
        createSlice(db, { projectId: 'project', anchorId: uuid(1), keys }),
      ))!;
      expect(await search('colours login', { slice })).toEqual([uuid(0), uuid(1)]);
      expect(await search('colours', { slice })).toEqual([]);
      const forged = { ...slice, turn_ids: [uuid(2)] };
      await expect(search('colours', { slice: forged })).rejects.toMatchObject({ code: 'invalid_input' });
    });

    it('is fused with meaning: other words for the same thing, the same on both stores', async () => {
      const store = await open();
      const said: Said[] = [];
      for (let number = 0; number < 20; number++) {
        said.push([null, `the garden and the flower of season ${number} in spring`]);
        said.push([null, `the recipe and the oven of dinner ${number} in kitchen`]);
        said.push([null, `the invoice and the payment of customer ${number} in billing`]);
        said.push([null, `the socket and the packet of network ${number} in transport`]);
      }
      said.push([null, 'a payment for billing']);
      await insert(store, said);
      const search = searcher(store);
      const found = await search('invoice', { limit: 100 });
      // The last one has no word of the question, but the company that it keeps.
      expect(found).toContain(uuid(80));
      expect(found).not.toContain(uuid(1));
      const before = answers.get('invoice') ?? found;
      answers.set('invoice', found);
      expect(found).toEqual(before);
    });

    it('takes any bytes as words', async () => {
      const store = await open();
      await insert(store, TALK);
      const search = searcher(store);
      const query = fc.oneof(
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.constantFrom(
          '"',
          "'",
          '*',
          'NEAR(a b)',
          'a AND',
          '(',
          'a:b',
          '\\',
          '\0',
          '\ud800',
          'h1 | h2',
          '-x',
        ),
      );
      await fc.assert(
        fc.asyncProperty(query, async (goal) => {
          expect(Array.isArray(await search(goal))).toBe(true);
        }),
        { numRuns: 150 },
      );
    });
  });
});
