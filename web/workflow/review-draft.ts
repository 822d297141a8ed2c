/** A review that is not decided: kept in this browser at once, and by Pulse, so that another device goes on with it. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { storedKey } from '../api/client.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import type { Draft } from '../api/types.ts';
import type { ReviewTools } from '../diff/diff-view.tsx';
import { type HeldDraft, heldDraft, joinDraft } from './held-draft.ts';

export interface ReviewDraft extends ReviewTools {
  text: string;
  onText(text: string): void;
  drop(): void;
  /** Why Pulse does not have it. */
  failure: unknown;
}

const TYPED_MS = 600;
/** Somebody may write on another device while this one is looked at. */
const LOOK_AGAIN_MS = 15_000;

interface ReviewAsked {
  id: string;
  /** Which review of the workflow it is. Where that changes, make the caller anew (`key`). */
  review: string;
  head: string | null;
}

export function useReviewDraft({ id, review, head }: ReviewAsked): ReviewDraft {
  const name = `pulse.review.${id}`;
  const client = useQueryClient();
  const [draft, setDraft] = useState(() => heldDraft(localStorage.getItem(name), review));
  const [failure, setFailure] = useState<unknown>(null);
  const latest = useRef(draft);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isSaving = useRef(false);
  const key = ['draft', id];
  const { data } = useAnswer(key, (call) => pulse.workflow.showDraft({ id }, call), {
    everyMs: LOOK_AGAIN_MS,
  });
  const known = data?.draft;
  const hold = (next: HeldDraft): void => {
    latest.current = next;
    setDraft(next);
    localStorage.setItem(name, JSON.stringify(next));
  };
  const save = async (): Promise<void> => {
    clearTimeout(timer.current);
    if (isSaving.current || storedKey() === null) return;
    isSaving.current = true;
    try {
      // What is written meanwhile goes behind it, so that an older state never comes last.
      while (latest.current.isUnsaved) {
        const sent = latest.current;
        const { text, comments, viewed } = sent;
        const answer = await pulse.workflow.keepDraft({
          ...{ id, text, comments, viewed },
          head: head ?? undefined,
        });
        if (latest.current.review !== review) return;
        hold({ ...latest.current, savedAt: answer.draft!.savedAt, isUnsaved: latest.current !== sent });
        await client.cancelQueries({ queryKey: ['answer', ...key] });
        client.setQueryData(['answer', ...key], answer);
      }
      setFailure(null);
    } catch (error) {
      setFailure(error);
    } finally {
      isSaving.current = false;
    }
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what Pulse has is waited for
  useEffect(() => {
    if (!known) return;
    const joined = joinDraft(latest.current, known, head);
    if (joined !== latest.current) hold(joined);
  }, [known, head]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: at the beginning and at the end
  useEffect(() => {
    void save();
    return () => void save();
  }, []);
  const change = (part: Partial<Draft>): void => {
    hold({ ...latest.current, ...part, isUnsaved: true });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void save(), TYPED_MS);
  };
  return {
    ...draft,
    failure,
    onText: (text) => change({ text }),
    onComments: (comments) => change({ comments }),
    onViewed: (viewed) => change({ viewed }),
    drop: () => {
      clearTimeout(timer.current);
      latest.current = heldDraft(null, '');
      localStorage.removeItem(name);
    },
  };
}
