/** The part of the store's contract that keeps what a person says to a session. */
import { describe, expect, it } from 'vitest';
import {
  insertNote,
  markTold,
  notesFor,
  quoteNotes,
  reopenNotes,
  untoldNotes,
} from '../../src/store/notes.ts';
import type { Store } from '../../src/store/store.ts';
import { sessionId } from './rows.ts';

export function notesContract(open: () => Promise<Store>): void {
  const session = sessionId(1);
  const texts = (store: Store, iteration: number) =>
    store.read(async (db) => (await notesFor(db, session, iteration)).map(({ text }) => text));

  describe('notes', () => {
    it('are open until a brief quotes them, and open again when nobody read it', async () => {
      const store = await open();
      for (const [id, text] of Object.entries({ n1: 'first', n2: 'second' }))
        await store.tx('test', (db) => insertNote(db, { id, session_id: session, text, actor: 'me' }));
      await store.tx('test', (db) =>
        insertNote(db, { id: 'n3', session_id: sessionId(2), text: 'not ours', actor: 'me' }),
      );
      expect(await texts(store, 1)).toEqual(['first', 'second']);
      await store.tx('test', (db) => quoteNotes(db, ['n1'], 1));
      await store.tx('test', (db) => quoteNotes(db, [], 1));
      expect(await texts(store, 1)).toEqual(['first', 'second']);
      expect(await texts(store, 2)).toEqual(['second']);
      expect((await store.read((db) => untoldNotes(db, session))).map(({ id }) => id)).toEqual(['n2']);
      await store.tx('test', (db) => markTold(db, ['n2']));
      expect(await store.read((db) => untoldNotes(db, session))).toEqual([]);
      expect(await texts(store, 2)).toEqual(['second']);
      await store.tx('test', (db) => reopenNotes(db, session, 1));
      expect(await texts(store, 2)).toEqual(['first', 'second']);
    });
  });
}
