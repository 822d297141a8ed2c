/** What every brief needs: the notes of a person, and a count of its tokens. */
import { loadTokenCounter, type TokenCounter } from '../../context/tokens.ts';
import type { SessionState } from '../../engine/loop.ts';
import type { ComposedBrief } from '../../engine/ports.ts';
import { plainBrief } from '../../engine/runner/plain-brief.ts';
import { type Note, notesFor } from '../../store/notes.ts';
import type { Store } from '../../store/store.ts';

let counter: Promise<TokenCounter> | null = null;

/** The vocabulary is loaded once in a process. */
export function countTokens(): Promise<TokenCounter> {
  counter ??= loadTokenCounter();
  return counter;
}

/** Those for the current iteration, or for the one that is about to begin. */
export function openNotes(store: Store, { session, live }: SessionState): Promise<Note[]> {
  const iteration = live?.iteration.iteration_number ?? session.current_iteration + 1;
  return store.read((db) => notesFor(db, session.id, iteration));
}

/** A text that quotes these notes. */
export async function countedBrief(text: string, notes: readonly Note[]): Promise<ComposedBrief> {
  const count = await countTokens();
  return { ...plainBrief(text), tokens: count(text), notes: notes.map(({ id }) => id) };
}
