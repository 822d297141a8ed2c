/**
 * What an assistant may do with workflows. Decisions that are a person's (approval, extension, review, a new baseline)
 * follow the rule of `pulse_resume`: the token, never inside a run, and only on the person's word (contract 6).
 */
import type { Resumed } from '../operations/control.ts';
import type { McpTool } from '../tools/mcp-server.ts';
import { statusInput } from './inputs.ts';
import { type Caller, requireHuman, sessionTool, type Told } from './session-tool.ts';
import { demandNarrow, started, startWords } from './starting.ts';
import { boundedSession } from './views.ts';
import { waitForStop } from './waiting.ts';
import {
  workflowApproveInput,
  workflowBaselineInput,
  workflowExtensionInput,
  workflowReviewInput,
  workflowStartInput,
  workflowStopInput,
} from './workflow-inputs.ts';
import { baselineView, workflowView } from './workflow-views.ts';

export function workflowTools(caller: Caller): McpTool[] {
  return [start, status, approve, extension, stop, review, baseline].map((tool) => tool(caller));
}

const CHANGES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };

const start = sessionTool({
  name: 'pulse_workflow_start',
  title: 'Start a workflow',
  description:
    'Start a workflow from a plan, or from a goal for which an agent drafts one: preflight, then one small judged commit ("pulse") after the other, then review. It ' +
    'waits for a person to approve the plan. Returns at once with the session id.',
  input: workflowStartInput,
  annotations: CHANGES,
  async run(input, caller) {
    const { approve: isApproved, ...given } = input;
    if (isApproved) requireHuman(caller, 'pulse_workflow_start with approve');
    demandNarrow(caller, 'pulse_workflow_start', input);
    const { workflows } = await caller.pulse();
    const admitted = await workflows.start(
      { ...startWords(given), actor: caller.actor, isApproved },
      caller.take,
    );
    const goesOnAlone = isApproved || input.goal !== undefined;
    return started(
      caller,
      admitted,
      goesOnAlone
        ? 'pulse_workflow_status, with waitSeconds'
        : 'show the person the plan; on their word pulse_workflow_approve',
    );
  },
});

const status = sessionTool({
  name: 'pulse_workflow_status',
  title: 'Show a workflow',
  description: 'How a workflow stands: its pulses, why it stopped, and what to do next.',
  input: statusInput,
  annotations: { readOnlyHint: true },
  async run({ sessionId, waitSeconds }, caller, signal) {
    const pulse = await caller.pulse();
    const { session } = await pulse.workflows.show(sessionId);
    await waitForStop(pulse, session.id, { seconds: waitSeconds, signal });
    return workflowView(await pulse.workflows.show(session.id), await pulse.runner(session.id));
  },
});

const approve = sessionTool({
  name: 'pulse_workflow_approve',
  title: 'Approve a plan',
  description:
    'Approve the plan a workflow waits with, or an edited one for pulses that were not started. Only on a person’s word.',
  input: workflowApproveInput,
  annotations: CHANGES,
  async run({ sessionId, plan }, caller) {
    requireHuman(caller, 'pulse_workflow_approve');
    const { workflows } = await caller.pulse();
    return goesOn(caller, await workflows.approve(sessionId, { ...decision(caller), plan }));
  },
});

const extension = sessionTool({
  name: 'pulse_workflow_extension',
  title: 'Decide about an extension',
  description: 'Give a pulse that asks for it another run, or let it fail. Only on a person’s word.',
  input: workflowExtensionInput,
  annotations: CHANGES,
  async run({ sessionId, approve: isGiven }, caller) {
    requireHuman(caller, 'pulse_workflow_extension');
    const { workflows } = await caller.pulse();
    return goesOn(caller, await workflows.extension(sessionId, { ...decision(caller), approve: isGiven }));
  },
});

const stop = sessionTool({
  name: 'pulse_workflow_stop',
  title: 'Stop a workflow',
  description:
    'End the agent now; what the pulse has is kept on its branch, and the session is paused. pulse_resume begins the pulse anew.',
  input: workflowStopInput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  async run({ sessionId }, caller) {
    const { workflows } = await caller.pulse();
    const session = await workflows.stop(sessionId, { actor: caller.actor });
    const text = session.status === 'paused' ? `${session.id} is paused.` : `${session.id} stops now.`;
    return { text, data: { session: boundedSession(session) } };
  },
});

const review = sessionTool({
  name: 'pulse_workflow_review',
  title: 'Review a workflow',
  description:
    'Merge a finished workflow into its base, or reject it with what is missing. Only on a person’s word.',
  input: workflowReviewInput,
  annotations: CHANGES,
  async run({ sessionId, merge: mode = 'ff', reject }, caller) {
    requireHuman(caller, 'pulse_workflow_review');
    const { workflows } = await caller.pulse();
    if (reject !== undefined) {
      return goesOn(
        caller,
        await workflows.rejectReview(sessionId, { ...decision(caller), comments: reject }),
      );
    }
    const { merged, ...resumed } = await workflows.approveReview(sessionId, { ...decision(caller), mode });
    const told = await goesOn(caller, resumed);
    if (!merged) return told;
    return { text: `${merged.said}\n${told.text}`, data: { ...told.data, merged } };
  },
});

const baseline = sessionTool({
  name: 'pulse_workflow_baseline',
  title: 'Show the baseline',
  description: 'What was wrong before the first pulse and is held against none; refresh records it again.',
  input: workflowBaselineInput,
  annotations: CHANGES,
  onlyReads: ({ refresh }) => !refresh,
  async run({ sessionId, refresh }, caller) {
    if (refresh) requireHuman(caller, 'pulse_workflow_baseline with refresh');
    const { workflows } = await caller.pulse();
    if (!refresh) return baselineView(await workflows.baseline(sessionId));
    return goesOn(caller, await workflows.refreshBaseline(sessionId, decision(caller)));
  },
});

function decision({ actor, take }: Caller) {
  return { actor, within: take };
}

async function goesOn(caller: Caller, { session, next }: Resumed): Promise<Told> {
  if (next === 'run') await caller.runSession(session);
  return {
    text: `${session.id} goes on.\nnext: pulse_workflow_status, with waitSeconds`,
    data: { session: boundedSession(session) },
  };
}
