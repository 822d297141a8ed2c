import { type LoopWords, PLAIN_WORDS } from '../../../cli/loop-words.ts';

export const beadsWords: LoopWords = {
  ...PLAIN_WORDS,
  hasSignals: false,
  afterAgent: 'closing the bead',
  place: ({ unit }) => unit ?? 'swarm',
  alone: () => ({ doing: 'merging', line: 'is merged' }),
  headline({ status, stop_reason: reason }) {
    if (status === 'complete') return 'every bead is closed';
    return reason === 'unresolved_issues' ? 'some beads are not closed, and none can be worked on' : null;
  },
};

export const beadPlanWords: LoopWords = {
  ...PLAIN_WORDS,
  hasSignals: false,
  afterAgent: 'writing the draft',
  place: () => 'drafting beads',
  headline({ status }) {
    return status === 'complete' ? 'the draft waits for you to read and import it' : null;
  },
};
