/** What this browser has of a review that is not decided, and how it meets what Pulse has of it. */
import type { Draft, Pulse } from '../api/types.ts';

export interface HeldDraft extends Draft {
  /** The review that it is of: in the next one its lines have moved. */
  review: string;
  /** When Pulse last kept it, by the clock of Pulse; empty: never. */
  savedAt: string;
  /** Pulse does not have it as it is here. */
  isUnsaved: boolean;
}

export interface KnownDraft extends Draft {
  savedAt: string;
  head?: string | undefined;
}

/** A rejection adds a pulse, also where that one commits nothing. */
export function reviewOf(head: string | null, pulses: readonly Pick<Pulse, 'id'>[]): string {
  return `${head ?? ''}.${pulses.length}`;
}

/** What was kept in this browser; nothing, where it was of another review. */
export function heldDraft(kept: string | null, review: string): HeldDraft {
  const nothing = { text: '', comments: [], viewed: [], review, savedAt: '', isUnsaved: false };
  try {
    const held = JSON.parse(kept ?? '{}') as Partial<HeldDraft>;
    return held.review === review ? { ...nothing, ...held } : nothing;
  } catch {
    return nothing;
  }
}

/** What Pulse has from another device is taken; what only this one has stays beside it. */
export function joinDraft(mine: HeldDraft, known: KnownDraft, head: string | null): HeldDraft {
  const isOther = known.head !== undefined && known.head !== (head ?? undefined);
  if (isOther || known.savedAt <= mine.savedAt) return mine;
  const { text, comments, viewed, savedAt } = known;
  if (!mine.isUnsaved) return { ...mine, text, comments, viewed, savedAt };
  const has = new Set(comments.map((comment) => JSON.stringify(comment)));
  return {
    ...mine,
    savedAt,
    text: mine.text === '' ? text : mine.text,
    comments: [...comments, ...mine.comments.filter((comment) => !has.has(JSON.stringify(comment)))],
    viewed: [...new Set([...viewed, ...mine.viewed])],
  };
}
