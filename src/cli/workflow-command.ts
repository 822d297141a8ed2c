import type { CommandSpec, OptionSpec } from './command-spec.ts';

export const WORKFLOW_ACTIONS = [
  'plan',
  'start',
  'approve',
  'extension',
  'stop',
  'review',
  'baseline',
  'show',
] as const;
export type WorkflowAction = (typeof WORKFLOW_ACTIONS)[number];

/** `shared`: the options that a start has in common with `pulse start`. */
export function workflowCommand(shared: readonly OptionSpec[]): CommandSpec {
  return {
    name: 'workflow',
    group: 'Run',
    summary: 'Work through a plan in small, judged commits ("pulses"), then review and merge.',
    details:
      'plan GOAL: an agent drafts a plan, which then waits for approval; --yes approves it beforehand.\n' +
      'start PLAN: takes a plan (YAML or JSON) and waits for its approval; --yes approves it at once.\n' +
      'approve ID: the plan is good; with --plan FILE an edited one, for pulses that were not started.\n' +
      'extension ID --approve | --deny: a pulse asked for another run.\n' +
      'stop ID: end the agent now and keep its work on the branch of the pulse; pulse resume begins it anew.\n' +
      'review ID --approve [--merge ff|merge|squash|pr] | --reject TEXT: merge it, or say what is missing.\n' +
      'baseline ID [refresh]: what was wrong before the first pulse and is held against none.\n' +
      'show ID: the plan, its pulses and what they wait for.',
    arguments: [
      { name: 'ACTION', choices: WORKFLOW_ACTIONS, help: WORKFLOW_ACTIONS.join(', ') },
      {
        name: 'TARGET',
        isSession: (input) => !['plan', 'start'].includes(input.argument('ACTION') ?? ''),
        help: "The goal for plan, the plan's file for start, else the session: its id, a part of it, or last.",
      },
      { name: 'WHAT', isOptional: true, choices: ['refresh'], help: 'baseline: record it again.' },
    ],
    options: [
      ...shared,
      { name: 'yes', help: 'start, plan: approve the plan at once.' },
      { name: 'plan', value: 'text', placeholder: 'FILE', help: 'approve: the edited plan.' },
      {
        name: 'extensions',
        value: 'text',
        placeholder: 'HOW',
        choices: ['auto', 'ask'],
        help: 'start: go on by itself when a pulse asks for another run (auto), or ask.',
      },
      { name: 'approve', help: 'extension, review: yes.' },
      { name: 'deny', help: 'extension: no; the pulse fails and its work is kept on its branch.' },
      {
        name: 'merge',
        value: 'text',
        placeholder: 'HOW',
        choices: ['ff', 'merge', 'squash', 'pr'],
        help: 'review --approve: how the base gets it (ff).',
      },
      {
        name: 'reject',
        value: 'text',
        placeholder: 'TEXT',
        help: 'review: what is missing; becomes a pulse.',
      },
      { name: 'refresh', help: 'baseline: the same as the word.' },
    ],
    examples: [
      'pulse workflow start plan.yaml --yes',
      'pulse workflow approve 3f2c',
      'pulse workflow review 3f2c --approve --merge squash',
      'pulse workflow review 3f2c --reject "The error message names no file."',
    ],
    isPersonOnly: true,
    load: () => import('./commands/workflow.ts'),
  };
}
