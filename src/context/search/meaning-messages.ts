/** What is said between Pulse and the thread that knows what turns are about. */
import type { MeaningState } from './project-meaning.ts';

export type ToMeaning =
  | {
      kind: 'add';
      projectId: string;
      turns: readonly { number: number; terms: string }[];
      /** More of them follow at once: they are learnt together. */
      hasMore: boolean;
    }
  | {
      kind: 'ask';
      question: number;
      projectId: string;
      terms: readonly string[];
      within: readonly number[] | null;
      limit: number;
      /** It waits for the first model where that is being fitted. */
      isPatient: boolean;
    };

export interface FromMeaning {
  question: number;
  /** Best first. */
  numbers: number[];
  state: MeaningState;
}
