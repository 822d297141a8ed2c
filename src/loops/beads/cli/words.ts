import { type LoopWords, PLAIN_WORDS } from '../../../cli/loop-words.ts';

/** Of the lead's iteration before the first worker. */
const PREPARE_UNIT = 'prepare';

export const beadsWords: LoopWords = {
  ...PLAIN_WORDS,
  hasSignals: false,
  countsTeam: true,
  afterAgent: 'closing the bead',
  between: 'workers at work',
  place: ({ unit, step }) => (step === 'planning' ? 'swarm' : (unit ?? 'swarm')),
  alone: ({ unit }) =>
    unit === PREPARE_UNIT
      ? { doing: 'setting the worktrees up', line: 'sets the worktrees up' }
      : { doing: 'merging', line: 'is put onto the branch' },
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
