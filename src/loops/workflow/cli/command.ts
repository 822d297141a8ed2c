import type { CommandSpec } from '../../../cli/command-spec.ts';
import { describeActions } from '../../../cli/operation-command.ts';
import { DETACH } from '../../../cli/session-options.ts';
import * as workflow from '../operations/definitions.ts';

/** What each word after `pulse workflow` does. */
const ACTIONS = {
  plan: workflow.start,
  start: workflow.start,
  approve: workflow.approve,
  extension: workflow.decideExtension,
  stop: workflow.stop,
  review: workflow.review,
  baseline: workflow.showBaseline,
  show: workflow.show,
} as const;
export type WorkflowAction = keyof typeof ACTIONS;
const NAMES = Object.keys(ACTIONS) as WorkflowAction[];

export const workflowCommand: CommandSpec = {
  name: 'workflow',
  group: 'Run',
  summary: 'Work through a plan in small, judged commits ("pulses"), then review and merge.',
  details:
    'plan GOAL: an agent drafts a plan, which then waits for approval; --yes approves it beforehand.\n' +
    'start PLAN: takes a plan (YAML or JSON) and waits for its approval; --yes approves it at once.\n' +
    'approve ID: the plan is good; with --plan FILE an edited one, for pulses that were not started.\n' +
    'extension ID --approve | --deny: a pulse asked for another run.\n' +
    'stop ID: end the agent now and keep its work on the branch of the pulse; pulse resume starts it again.\n' +
    'review ID --approve [--merge ff|merge|squash|pr] | --reject TEXT: merge it, or say what is missing.\n' +
    'baseline ID [refresh]: what was wrong before the first pulse and is held against none.\n' +
    'show ID: the plan, its pulses and what they wait for; with --out FILE the plan as a file to edit.',
  arguments: [
    { name: 'ACTION', choices: NAMES, help: NAMES.join(', ') },
    {
      name: 'TARGET',
      isSession: (input) => !['plan', 'start'].includes(input.argument('ACTION') ?? ''),
      help: "The goal for plan, the plan's file for start, else the session: its id, a part of it, or last.",
    },
    { name: 'WHAT', isOptional: true, choices: ['refresh'], help: 'baseline: record it again.' },
  ],
  options: [
    ...describeActions(ACTIONS),
    {
      name: 'out',
      value: 'text',
      placeholder: 'FILE',
      help: 'show: Write the plan into this file, never one that is there.',
    },
    DETACH,
  ],
  examples: [
    'pulse workflow start plan.yaml --yes',
    'pulse workflow approve 3f2c',
    'pulse workflow review 3f2c --approve --merge squash',
    'pulse workflow review 3f2c --reject "The error message names no file."',
  ],
  isPersonOnly: true,
  load: () => import('./run.ts'),
};
