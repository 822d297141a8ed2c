import type { Session } from '../store/sessions.ts';
import type { Progress } from './follow/progress.ts';

/** How a loop's sessions are spoken of on a terminal. Cheap to load: every command that names a session needs it. */
export interface LoopWords {
  /** Its iterations are what a person counts: n of at most so many. */
  countsIterations: boolean;
  /** Where it stands. */
  place(progress: Progress): string;
  /** What is done in an iteration without an agent: while it is done, and as a line of a log. */
  alone(progress: Progress): { doing: string; line: string };
  /** The runs are those of the sessions that work for it: its own are not all there were. */
  countsTeam?: boolean;
  /** What is done between its iterations, where that is not planning the next. */
  between?: string;
  /** What is done when the agent has ended, where that is not saving and verifying. */
  afterAgent?: string;
  /** Whether the agent's signals say how it stands. */
  hasSignals: boolean;
  /** Why it stands as it does; `null`: as of any session. */
  headline?(session: Pick<Session, 'status' | 'stop_reason'>): string | null;
  /** The command that reports it; `null`: as of any session. */
  reportCommand?(session: Session): string | null;
}

/** Of a loop that says nothing of its own. */
export const PLAIN_WORDS: LoopWords = {
  countsIterations: false,
  place: ({ unit, iteration }) => unit ?? `run ${iteration}`,
  alone: () => ({ doing: 'working without an agent', line: 'is worked on without an agent' }),
  hasSignals: true,
};
