import type { CommandSpec } from '../../../cli/command-spec.ts';
import { describeActions } from '../../../cli/operation-command.ts';
import { DETACH } from '../../../cli/session-options.ts';
import * as research from '../operations/definitions.ts';

/** What each word after `pulse research` does. */
const ACTIONS = {
  start: research.start,
  show: research.show,
  report: research.report,
  finish: research.finish,
} as const;
export type ResearchAction = keyof typeof ACTIONS;
const NAMES = Object.keys(ACTIONS) as ResearchAction[];

export const researchCommand: CommandSpec = {
  name: 'research',
  group: 'Run',
  summary: 'Push a metric: try changes one by one, measure them, keep what truly helps.',
  details:
    'start FILE: takes a research.yaml; reads the baseline, then runs one experiment after the other.\n' +
    'show ID: the experiments, the plot and the best so far.\n' +
    'report ID: one HTML page with plot, table, kept diffs and what did not work.\n' +
    'finish ID --implement | --pause | --done: what becomes of the findings; the session itself does not change.',
  arguments: [
    { name: 'ACTION', choices: NAMES, help: NAMES.join(', ') },
    {
      name: 'TARGET',
      isSession: (input) => input.argument('ACTION') !== 'start',
      help: 'The research.yaml for start, else the session: its id, a part of it, or last.',
    },
  ],
  options: [
    ...describeActions(ACTIONS),
    { name: 'output', value: 'text', placeholder: 'FILE', help: 'report: write the page here.' },
    DETACH,
  ],
  examples: [
    'pulse research start research.yaml --iterations 20',
    'pulse research start research.yaml --iterations 60 --parallel 3',
    'pulse research show 3f2c',
    'pulse research report 3f2c --output report.html',
  ],
  load: () => import('./run.ts'),
};
