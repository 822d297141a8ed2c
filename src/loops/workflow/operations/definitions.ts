/** What can be done with a workflow. */
import { MERGE_MODES } from '../../../domain/after-words.ts';
import { choice, flag, object, required, text } from '../../../operations/fields.ts';
import { define, get, post } from '../../../operations/operation.ts';
import {
  LONG_TEXT,
  projectPath,
  SAYS_SOMETHING,
  sessionId,
  startFields,
  waitSeconds,
} from '../../../operations/session/fields.ts';

const PLAN_HELP =
  'The plan: pulses are small, ordered commits; verify commands judge each of them, preflight commands set up. The ' +
  'text of a file does, too (YAML or JSON).';

export const start = define({
  name: 'workflow start',
  summary:
    'Start a workflow from a plan, or from a goal for which an agent drafts one; it waits for approval unless `approve` is given.',
  access: 'change',
  fields: {
    path: projectPath,
    plan: object({ help: PLAN_HELP }),
    goal: text(LONG_TEXT, {
      help: 'Instead of a plan: what should be true afterwards. An agent drafts a plan for it.',
      pattern: SAYS_SOMETHING,
    }),
    ...startFields,
    extensions: choice(['auto', 'ask'], {
      help: 'Whether a pulse that asks for another run gets it by itself (auto).',
      option: 'extensions HOW',
    }),
    isApproved: flag({
      help: 'Approve the plan at once.',
      wire: 'approve',
      option: 'yes',
      personValues: [true],
    }),
  },
  runsSession: () => true,
  http: post('/api/workflows', 'The workflow is admitted.', { status: 201 }),
  tool: {
    name: 'pulse_workflow_start',
    title: 'Start a workflow',
    description:
      'Start a workflow from a plan, or from a goal for which an agent drafts one: preflight, then one small judged commit ("pulse") after the other, then review. It ' +
      'waits for a person to approve the plan. Returns at once with the session id.',
  },
});

export const show = define({
  name: 'workflow show',
  summary: 'Show a workflow: its plan, its pulses and what it waits for.',
  access: 'read',
  fields: { sessionId, waitSeconds },
  http: get('/api/workflows/{id}', 'The workflow.'),
  tool: {
    name: 'pulse_workflow_status',
    title: 'Show a workflow',
    description: 'The state of a workflow: its pulses, why it stopped, and what to do next.',
  },
});

/** For what draws it while it runs. */
export const rows = define({
  name: 'workflow rows',
  summary: 'Read the rows of a workflow as they are stored.',
  access: 'read',
  fields: { sessionId },
});

export const approve = define({
  name: 'workflow approve',
  summary: 'Approve the plan, or an edited one for what has not been started.',
  access: 'person',
  fields: {
    sessionId,
    plan: object({ help: 'An edited plan, for pulses that were not started.', option: 'plan FILE' }),
  },
  runsSession: () => true,
  http: post('/api/workflows/{id}/approve', 'It continues.'),
  tool: {
    name: 'pulse_workflow_approve',
    title: 'Approve a plan',
    description:
      'Approve the plan a workflow waits with, or an edited one for pulses that were not started. Only on a person’s word.',
  },
});

export const decideExtension = define({
  name: 'workflow extension',
  summary: 'Give a pulse another run, or let it fail.',
  access: 'person',
  fields: {
    sessionId,
    approve: required(
      flag({
        help: 'true: another run; false: the pulse fails, its work is kept on its branch.',
        switches: {
          approve: 'another run.',
          deny: 'no other run: the pulse fails and its work is kept on its branch.',
        },
      }),
    ),
  },
  runsSession: () => true,
  http: post('/api/workflows/{id}/extension', 'It continues.'),
  tool: {
    name: 'pulse_workflow_extension',
    title: 'Decide about an extension',
    description: 'Give a pulse that asks for it another run, or let it fail. Only on a person’s word.',
  },
});

export const stop = define({
  name: 'workflow stop',
  summary: 'End the agent now and keep its work on the branch of the pulse.',
  access: 'change',
  fields: { sessionId },
  http: post('/api/workflows/{id}/stop', 'The stop is asked for.'),
  tool: {
    name: 'pulse_workflow_stop',
    title: 'Stop a workflow',
    description:
      'End the agent now; what the pulse has is kept on its branch, and the session is paused. pulse_resume starts the pulse again.',
    isIdempotent: true,
  },
});

export const review = define({
  name: 'workflow review',
  summary: 'Merge the finished workflow into its base, or say what is missing.',
  access: 'person',
  fields: {
    sessionId,
    approve: flag({ help: 'Merge it into its base.', option: 'approve' }),
    merge: choice(MERGE_MODES, {
      help: 'With approve: how the base gets it (ff).',
      option: 'merge HOW',
    }),
    reject: text(LONG_TEXT, {
      help: 'What is missing; it becomes a new pulse.',
      option: 'reject TEXT',
    }),
    comments: object<{ path: string; side: 'old' | 'new'; line: number; text: string }[]>({
      help: 'What is wrong with single lines; told to the new pulse, each with its place.',
      on: ['http'],
    }),
  },
  runsSession: () => true,
  http: post('/api/workflows/{id}/review', 'It is merged, or continues.'),
  tool: {
    name: 'pulse_workflow_review',
    title: 'Review a workflow',
    description:
      'Merge a finished workflow into its base, or reject it with what is missing. Only on a person’s word.',
  },
});

export const showDraft = define({
  name: 'workflow draft',
  summary: 'Show the draft of a review: comments that were not sent yet, and the files that were read.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/workflows/{id}/draft', 'The draft; null where there is none.'),
});

export const keepDraft = define({
  name: 'workflow keep draft',
  summary: 'Keep the draft of a review in place of the one before, until the review is decided.',
  access: 'person',
  isOfProject: true,
  fields: {
    sessionId,
    text: text(LONG_TEXT, { help: 'What is said of the whole; it may be empty.' }),
    comments: object<{ path: string; side: 'old' | 'new'; line: number; text: string }[]>({
      help: 'What is said of single lines.',
    }),
    viewed: object<string[]>({ help: 'The files that were read, by their paths.' }),
    head: text(64, {
      help: 'The commit that is reviewed (`head` of `?view=head`): refused once the review of it is over.',
    }),
  },
  http: { method: 'put', path: '/api/workflows/{id}/draft', says: 'It is kept.', status: 200 },
});

export const showBaseline = define({
  name: 'workflow baseline',
  summary: 'Show what was wrong before the first pulse and is held against none.',
  access: 'read',
  fields: {
    sessionId,
    refresh: flag({
      help: 'Record it again.',
      option: 'refresh',
      on: ['mcp', 'cli'],
      personValues: [true],
    }),
  },
  runsSession: ({ refresh }) => refresh === true,
  http: get('/api/workflows/{id}/baseline', 'The baseline.'),
  tool: {
    name: 'pulse_workflow_baseline',
    title: 'Show the baseline',
    description: 'What was wrong before the first pulse and is held against none; refresh records it again.',
    mayChange: true,
  },
});

export const refreshBaseline = define({
  name: 'workflow refresh',
  summary: 'Record the baseline again.',
  access: 'person',
  fields: { sessionId },
  runsSession: () => true,
  http: post('/api/workflows/{id}/baseline/refresh', 'It is recorded again.'),
});

const PATCH =
  'A patch of at most 2 MB; `Pulse-Diff-Truncated` says whether there is more, `Pulse-Diff-From` and `-To` name the commits.';

export const showDiff = define({
  name: 'workflow diff',
  summary: 'Show what the whole workflow has changed.',
  access: 'read',
  fields: { sessionId },
  http: get('/api/workflows/{id}/diff', PATCH, { contentType: 'text/x-diff' }),
});

export const showPulseDiff = define({
  name: 'workflow pulse diff',
  summary: 'Show what one pulse has changed.',
  access: 'read',
  fields: {
    sessionId,
    pulseId: required(text(100, { help: "A pulse's id, or its id in the plan: then its newest try." })),
  },
  http: get('/api/workflows/{id}/pulses/{pulseId}/diff', PATCH, { contentType: 'text/x-diff' }),
});
