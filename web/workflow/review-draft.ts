/** A review that is not decided: kept in this browser at once, and by Pulse, so that another device goes on with it. */
import { useEffect, useRef, useState } from 'react';
import { storedKey } from '../api/client.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import type { Draft } from '../api/types.ts';
import type { ReviewTools } from '../diff/diff-view.tsx';

export interface ReviewDraft extends ReviewTools {
  text: string;
  onText(text: string): void;
  drop(): void;
}

interface Stored extends Draft {
  savedAt: string;
}

const NOTHING: Stored = { text: '', comments: [], viewed: [], savedAt: '' };
const TYPED_MS = 600;

export function useReviewDraft(id: string): ReviewDraft {
  const name = `pulse.review.${id}`;
  const [draft, setDraft] = useState<Stored>(() => storedDraft(name));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { data } = useAnswer(['draft', id], (call) => pulse.workflow.showDraft({ id }, call));
  const known = data?.draft;
  useEffect(() => {
    if (known) setDraft((mine) => (known.savedAt > mine.savedAt ? known : mine));
  }, [known]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (part: Partial<Draft>): void => {
    const next = { ...draft, ...part, savedAt: new Date().toISOString() };
    setDraft(next);
    localStorage.setItem(name, JSON.stringify(next));
    clearTimeout(timer.current);
    if (storedKey() === null) return;
    const { text, comments, viewed } = next;
    timer.current = setTimeout(() => {
      // What Pulse does not get now is in this browser, and goes with the next change.
      pulse.workflow.keepDraft({ id, text, comments, viewed }).catch(() => undefined);
    }, TYPED_MS);
  };
  return {
    ...draft,
    onText: (text) => change({ text }),
    onComments: (comments) => change({ comments }),
    onViewed: (viewed) => change({ viewed }),
    drop: () => {
      clearTimeout(timer.current);
      setDraft(NOTHING);
      localStorage.removeItem(name);
    },
  };
}

function storedDraft(name: string): Stored {
  try {
    return { ...NOTHING, ...(JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Stored>) };
  } catch {
    return NOTHING;
  }
}
