/** What a session asks of a person who looks at all of them: the groups in which they are shown. */
import type { SessionStatus } from './status.ts';

/** In the order in which they are shown. */
export const ATTENTION_GROUPS = ['needs_you', 'failed', 'no_runner', 'waiting', 'running', 'done'] as const;
export type AttentionGroup = (typeof ATTENTION_GROUPS)[number];

export interface Standing {
  status: SessionStatus;
  /** It waits until then, for a limit or a service. */
  resume_at: string | null;
  /** It waits for the slot of an agent. */
  isQueued?: boolean;
}

/** `isDriven`: somebody runs it. */
export function attentionOf(
  { status, resume_at, isQueued = false }: Standing,
  { isDriven }: { isDriven: boolean },
): AttentionGroup {
  switch (status) {
    case 'blocked':
    case 'paused':
      return 'needs_you';
    case 'failed':
      return 'failed';
    case 'complete':
    case 'aborted':
      return 'done';
    default:
      if (!isDriven) return 'no_runner';
      return resume_at === null && !isQueued ? 'running' : 'waiting';
  }
}
