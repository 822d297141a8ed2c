/** The operations on workflows, ready to be called. */

import * as z from 'zod';
import { answeringOperation, operation } from '../../../operations/operation.ts';
import { boundedSession, goesOnText, startedText } from '../../../operations/session/tool-text.ts';
import { SessionAnswer } from '../../../operations/session/view-schema.ts';
import { waitForStop } from '../../../operations/wait-for-stop.ts';
import { orYaml } from '../../../operations/yaml-field.ts';
import { planSchema } from '../plan.ts';
import * as definitions from './definitions.ts';
import { DraftAnswer, draftSchemas, keepDraft, showDraft } from './draft.ts';
import { approveReview, rejectReview } from './review.ts';
import { ReviewComment, reviewText } from './review-comments.ts';
import { baselineText, workflowText } from './tool-text.ts';
import { diffWorkflow, viewBaseline, viewWorkflow, type WorkflowDiff } from './view.ts';
import { BaselineAnswer, ReviewAnswer, WorkflowAnswer, WorkflowStartAnswer } from './view-schema.ts';
import {
  approveWorkflow,
  decideExtension,
  readWorkflow,
  refreshBaseline,
  startWorkflow,
  stopWorkflow,
} from './workflow.ts';

export const WORKFLOW_INSTRUCTIONS =
  'A workflow is a plan of small commits ("pulses"): pulse_workflow_start, then pulse_workflow_status says what it ' +
  'waits for; a person approves the plan and reviews.';

const STATUS_TOOL = 'pulse_workflow_status';

const show = operation(definitions.show, {
  async run(operations, { sessionId, ...wait }) {
    await waitForStop(operations, sessionId, wait);
    return viewWorkflow(operations, sessionId);
  },
  view: WorkflowAnswer,
  tell: async (view, { runner }) => workflowText(view, await runner(view.session.id)),
});

export const workflowOperations = {
  start: answeringOperation(definitions.start, {
    run: startWorkflow,
    schemas: { plan: orYaml(planSchema) },
    check({ plan, goal }, refuse) {
      if ((plan === undefined) === (goal === undefined))
        refuse('plan', 'either a plan, or a goal for which one is drafted');
    },
    view: WorkflowStartAnswer,
    async answer({ id }, _, call) {
      const { session, workflow, pulses } = await call(show, { sessionId: id });
      return { sessionId: id, session, workflow, pulses };
    },
    tell: (started, { input }) =>
      startedText(
        started,
        input.isApproved || input.goal !== undefined
          ? `${STATUS_TOOL}, with waitSeconds`
          : 'show the person the plan; on their word pulse_workflow_approve',
      ),
  }),
  show,
  rows: operation(definitions.rows, {
    run: (operations, { sessionId }) => readWorkflow(operations, sessionId),
  }),
  approve: operation(definitions.approve, {
    run: (operations, { sessionId, ...decision }) => approveWorkflow(operations, sessionId, decision),
    schemas: { plan: orYaml(planSchema) },
    view: SessionAnswer,
    tell: ({ session }) => goesOnText(session, STATUS_TOOL),
  }),
  decideExtension: operation(definitions.decideExtension, {
    run: (operations, { sessionId, ...decision }) => decideExtension(operations, sessionId, decision),
    view: SessionAnswer,
    tell: ({ session }) => goesOnText(session, STATUS_TOOL),
  }),
  stop: operation(definitions.stop, {
    run: async (operations, { sessionId, ...decision }) => ({
      session: await stopWorkflow(operations, sessionId, decision),
    }),
    view: SessionAnswer,
    tell: ({ session }) => ({
      text: session.status === 'paused' ? `${session.id} is paused.` : `${session.id} stops now.`,
      data: { session: boundedSession(session) },
    }),
  }),
  review: answeringOperation(definitions.review, {
    run: (operations, { sessionId, merge: mode = 'ff', reject, comments = [], ...decision }) =>
      reject === undefined && comments.length === 0
        ? approveReview(operations, sessionId, { ...decision, mode })
        : rejectReview(operations, sessionId, { ...decision, comments: reviewText(reject, comments) }),
    schemas: { comments: z.array(ReviewComment).max(200) },
    check({ approve, merge, reject, comments = [] }, refuse) {
      if ((approve === true) === (reject !== undefined || comments.length > 0))
        refuse('approve', 'either approve must be true, or reject say what is missing');
      if (merge !== undefined && approve !== true) refuse('merge', 'belongs to an approval');
    },
    view: ReviewAnswer,
    async answer(session, reviewed, call) {
      const { mergedSha: sha } = (await call(show, { sessionId: session.id })).workflow;
      const merged = sha === null ? null : { base: session.base_branch!, sha };
      return { session, merged, said: reviewed?.merged?.said ?? null };
    },
    tell({ session, merged }) {
      const { text, data } = goesOnText(session, STATUS_TOOL);
      return merged ? { text: `${merged.said}\n${text}`, data: { ...data, merged } } : { text, data };
    },
  }),
  showDraft: operation(definitions.showDraft, { run: showDraft, view: DraftAnswer }),
  keepDraft: operation(definitions.keepDraft, {
    run: keepDraft,
    schemas: draftSchemas,
    view: DraftAnswer,
  }),
  showBaseline: operation(definitions.showBaseline, {
    run: async (operations, { sessionId, refresh, ...decision }) => ({
      ...(refresh ? await refreshBaseline(operations, sessionId, decision) : {}),
      baseline: await viewBaseline(operations, sessionId),
    }),
    view: BaselineAnswer,
    tell: ({ session, baseline }) => (session ? goesOnText(session, STATUS_TOOL) : baselineText(baseline)),
  }),
  refreshBaseline: operation(definitions.refreshBaseline, {
    run: (operations, { sessionId, ...decision }) => refreshBaseline(operations, sessionId, decision),
    view: SessionAnswer,
  }),
  showDiff: operation(definitions.showDiff, {
    run: (operations, { sessionId }) => diffWorkflow(operations, sessionId),
    page: patch,
  }),
  showPulseDiff: operation(definitions.showPulseDiff, {
    run: (operations, { sessionId, pulseId }) => diffWorkflow(operations, sessionId, pulseId),
    page: patch,
  }),
};

function patch({ text, from, to, isTruncated }: WorkflowDiff) {
  return {
    text,
    headers: {
      'Pulse-Diff-From': from,
      'Pulse-Diff-To': to,
      'Pulse-Diff-Truncated': String(isTruncated),
    },
  };
}
