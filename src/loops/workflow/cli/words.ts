import { type LoopWords, PLAIN_WORDS } from '../../../cli/loop-words.ts';
import type { PREFLIGHT_UNIT } from '../model.ts';

/** Written out: its module loads what a quick question does not need. */
const PREFLIGHT: typeof PREFLIGHT_UNIT = 'preflight';

export const workflowWords: LoopWords = {
  ...PLAIN_WORDS,
  place({ unit, iteration, plan: { units } }) {
    const index = units.indexOf(unit ?? '');
    if (index === -1) return unit ?? `run ${iteration}`;
    return `pulse ${index + 1} of ${units.length} (${unit})`;
  },
  alone: ({ unit }) =>
    unit === PREFLIGHT
      ? { doing: 'preflight: setup and checks', line: 'preflight: the worktree is set up, checks are run' }
      : { doing: 'measuring', line: 'is measured' },
  headline: ({ status }) => (status === 'complete' ? 'reviewed and merged' : null),
};
