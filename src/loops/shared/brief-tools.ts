/** What every brief needs: the notes of a person, and a count of its tokens. */
import { boundBrief } from '../../context/bounded-brief.ts';
import { MOST_BRIEF_TOKENS } from '../../context/brief.ts';
import { TOOLS_SECTION } from '../../context/context-text.ts';
import type { IterationContext } from '../../context/iteration-context.ts';
import { loadTokenCounter, type TokenCounter } from '../../context/tokens.ts';
import { type ContextStrategy, hasContextTools } from '../../domain/context-words.ts';
import type { SessionState } from '../../engine/loop.ts';
import type { ComposedBrief } from '../../engine/ports.ts';
import { plainBrief } from '../../engine/runner/plain-brief.ts';
import { type Note, notesFor } from '../../store/notes.ts';
import type { Store } from '../../store/store.ts';
import { accountBrief } from './brief-account.ts';

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

export interface CountedBrief {
  text: string;
  /** That the text quotes. */
  notes?: readonly Note[];
  /** With tools of the context the run is told of them. */
  strategy: ContextStrategy;
}

/**
 * The brief of a loop that says by itself what its runs are told: no turns of others are put into it, but with `mcp` and
 * `hybrid` its agent can look them up. It is cut where it is longer than a brief may be.
 */
export async function countedBrief({ text, notes = [], strategy }: CountedBrief): Promise<ComposedBrief> {
  const count = await countTokens();
  const tools = hasContextTools(strategy) ? `\n${TOOLS_SECTION}\n` : '';
  const bounded = boundBrief(text, {
    most: MOST_BRIEF_TOKENS,
    count: (part, most) => count(`${part}${tools}`, most),
  });
  const sent = `${bounded}${tools}`;
  return {
    ...plainBrief(sent),
    ...{ tokens: count(sent), sections: accountBrief(sent, count), notes: notes.map(({ id }) => id) },
    ...(bounded === text ? {} : { whole: text }),
  };
}

/** What a brief records of its context. */
export function composedContext({
  anchor,
  slice,
}: Pick<IterationContext, 'anchor' | 'slice'>): Pick<ComposedBrief, 'anchor' | 'sliceId'> {
  const { turn, strategy, resolutionMs, salience, depth, invalid } = anchor;
  return {
    anchor: { turnId: turn?.id ?? null, strategy, resolutionMs, salience, depth, invalid },
    sliceId: slice?.slice_id ?? null,
  };
}
