import { type LoopWords, PLAIN_WORDS } from '../../../cli/loop-words.ts';

export const researchWords: LoopWords = {
  ...PLAIN_WORDS,
  hasSignals: false,
  afterAgent: 'measuring',
  /** An experiment has a number of its own. */
  place({ unit, plan: { total } }) {
    if (!unit?.startsWith('exp-')) return unit ?? 'experiment';
    return `experiment ${unit.slice('exp-'.length)}${total === null ? '' : ` of ${total}`}`;
  },
  alone: () => ({ doing: 'measuring', line: 'is measured' }),
  headline({ status, stop_reason }) {
    if (status === 'complete')
      return stop_reason === 'completed' ? 'the target is reached' : 'all experiments are run';
    return stop_reason === 'preflight_failed'
      ? 'the metric could not be read before the first experiment'
      : null;
  },
  // Before its baseline is known there is nothing to report.
  reportCommand: ({ id, current_iteration }) =>
    current_iteration > 0 ? `pulse research report ${id}` : null,
};
