/** What is said between Pulse and the thread that knows what turns are about. */

export type ToMeaning =
  | { kind: 'add'; projectId: string; turns: readonly { number: number; terms: string }[] }
  | {
      kind: 'ask';
      question: number;
      projectId: string;
      terms: readonly string[];
      within: readonly number[] | null;
      limit: number;
    };

export interface FromMeaning {
  question: number;
  /** Best first. */
  numbers: number[];
}
