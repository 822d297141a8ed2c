import type { CommandSpec, OptionSpec } from './command-spec.ts';

const RESEARCH_ACTIONS = ['start', 'show', 'report', 'finish'] as const;
/** As flags of `finish`. */
export const FINISHES = ['implement', 'pause', 'done'] as const;
export type ResearchAction = (typeof RESEARCH_ACTIONS)[number];

/** `shared`: the options that a start has in common with `pulse start`. */
export function researchCommand(shared: readonly OptionSpec[]): CommandSpec {
  return {
    name: 'research',
    group: 'Run',
    summary: 'Push a metric: try changes one by one, measure them, keep what truly helps.',
    details:
      'start FILE: takes a research.yaml; reads the baseline, then runs one experiment after the other.\n' +
      'show ID: the experiments, the plot and where it stands.\n' +
      'report ID: one HTML page with plot, table, kept diffs and what did not work.\n' +
      'finish ID --implement | --pause | --done: what becomes of the findings; the session itself does not change.',
    arguments: [
      { name: 'ACTION', choices: RESEARCH_ACTIONS, help: RESEARCH_ACTIONS.join(', ') },
      {
        name: 'TARGET',
        isSession: (input) => !['start'].includes(input.argument('ACTION') ?? ''),
        help: 'The research.yaml for start, else the session: its id, a part of it, or last.',
      },
    ],
    options: [
      ...shared,
      {
        name: 'iterations',
        value: 'integer',
        placeholder: 'N',
        help: 'start: stop after so many experiments.',
      },
      {
        name: 'parallel',
        value: 'integer',
        placeholder: 'N',
        help: 'start: so many sessions edit at once; measuring is one after the other. Default: 1.',
      },
      { name: 'output', value: 'text', placeholder: 'FILE', help: 'report: write the page here.' },
      { name: 'implement', help: 'finish: make a plan of the next steps.' },
      { name: 'done', help: 'finish: it is complete.' },
      { name: 'pause', help: 'finish: it is left for later.' },
    ],
    examples: [
      'pulse research start research.yaml --iterations 20',
      'pulse research start research.yaml --iterations 60 --parallel 3',
      'pulse research show 3f2c',
      'pulse research report 3f2c --output report.html',
    ],
    load: () => import('./commands/research.ts'),
  };
}
