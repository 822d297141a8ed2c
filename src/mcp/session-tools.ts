/** What an assistant may do with sessions (contract 6). */
import type { McpTool } from '../tools/mcp-server.ts';
import { commanderTools } from './commander-tools.ts';
import {
  abortInput,
  contextInput,
  listInput,
  noteInput,
  pauseInput,
  resumeInput,
  startInput,
  statusInput,
  usd,
} from './inputs.ts';
import { researchTools } from './research-tools.ts';
import { type Caller, requireHuman, sessionTool } from './session-tool.ts';
import { demandNarrow, started, startWords } from './starting.ts';
import { boundedSession, contextView, headline, listView, nextStep, statusView } from './views.ts';
import { waitForStop } from './waiting.ts';
import { workflowTools } from './workflow-tools.ts';

export const INSTRUCTIONS =
  'Pulse runs coding agents in loops, each session in a worktree of its own, until the goal is done and verified. ' +
  'pulse_start returns at once; follow with pulse_status {sessionId, waitSeconds}. A blocked session needs a person: ' +
  'ask them, then pulse_resume with their answer. A workflow is a plan of small commits ("pulses"): ' +
  'pulse_workflow_start, then pulse_workflow_status says what it waits for; a person approves the plan and reviews. ' +
  'Research pushes a metric by measured experiments: pulse_research_start, then pulse_research_show.';

export function sessionTools(caller: Caller): McpTool[] {
  return [start, status, list, pause, resume, note, abort, context]
    .map((tool) => tool(caller))
    .concat(workflowTools(caller), researchTools(caller), commanderTools(caller));
}

const start = sessionTool({
  name: 'pulse_start',
  title: 'Start a session',
  description:
    'Start a session: an agent works towards the goal in the background, on a branch of its own, one iteration after ' +
    'the other, until it is done and the verify commands agree. Returns at once with the session id.',
  input: startInput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run(input, caller) {
    demandNarrow(caller, 'pulse_start', input);
    const pulse = await caller.pulse();
    const admitted = await pulse.start(startWords(input), caller.take);
    return started(caller, admitted, 'pulse_status, with waitSeconds');
  },
});

const status = sessionTool({
  name: 'pulse_status',
  title: 'Show a session',
  description: 'How a session stands: status, why it stopped, its newest iterations, and what to do next.',
  input: statusInput,
  annotations: { readOnlyHint: true },
  async run({ sessionId, waitSeconds }, caller, signal) {
    const pulse = await caller.pulse();
    const { session } = await pulse.get(sessionId);
    await waitForStop(pulse, session.id, { seconds: waitSeconds, signal });
    return statusView(await pulse.get(session.id), await pulse.runner(session.id));
  },
});

const list = sessionTool({
  name: 'pulse_list',
  title: 'List sessions',
  description: 'The sessions of this machine, newest first.',
  input: listInput,
  annotations: { readOnlyHint: true },
  async run({ status: wanted, limit = 20 }, caller) {
    const pulse = await caller.pulse();
    return listView(await pulse.list({ status: wanted, limit }));
  },
});

const pause = sessionTool({
  name: 'pulse_pause',
  title: 'Pause a session',
  description: 'Pause a session after the iteration in hand; pulse_resume goes on.',
  input: pauseInput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  async run({ sessionId, now }, caller) {
    const pulse = await caller.pulse();
    const session = await pulse.pause(sessionId, { now, actor: caller.actor });
    const isPaused = session.status === 'paused';
    const when = now ? 'now' : 'after the iteration in hand';
    return {
      text: isPaused ? `${session.id} is paused.` : `${session.id} pauses ${when}.`,
      data: { session: boundedSession(session) },
    };
  },
});

const resume = sessionTool({
  name: 'pulse_resume',
  title: 'Resume a session',
  description:
    'Go on with a blocked, paused or failed session: with a person’s answer to what the agent asked, or with a higher ' +
    'limit after one was reached. The config is read again, and agent, model, verify and setup may be others. Adopts a running session that nobody runs. Only on a person’s word.',
  input: resumeInput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run({ sessionId, budgetUsd, timeLimit, iterationTimeout, idleTimeout, ...asked }, caller) {
    requireHuman(caller, 'pulse_resume');
    const pulse = await caller.pulse();
    const { session, next } = await pulse.resume(sessionId, {
      ...asked,
      budgetUsd: usd(budgetUsd),
      timeLimitMs: timeLimit,
      iterationTimeoutMs: iterationTimeout,
      idleTimeoutMs: idleTimeout,
      actor: caller.actor,
      within: caller.take,
    });
    if (next === 'run') await caller.runSession(session);
    return {
      text: `${session.id} goes on.\nnext: pulse_status, with waitSeconds`,
      data: { session: boundedSession(session) },
    };
  },
});

const note = sessionTool({
  name: 'pulse_note',
  title: 'Tell a session something',
  description:
    'Steer a session without stopping it: the next brief quotes the note, and a running agent that uses the tools of ' +
    'Pulse is told at once. With isAnswer it is the reply to what a stopped session asked. Only on a person’s word.',
  input: noteInput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run({ sessionId, ...said }, caller) {
    requireHuman(caller, 'pulse_note');
    const pulse = await caller.pulse();
    const within = said.isAnswer ? caller.take : undefined;
    const { session, next } = await pulse.note(sessionId, { ...said, actor: caller.actor, within });
    if (next === 'run') await caller.runSession(session);
    const told = next === 'run' ? 'goes on with the answer' : 'has the note';
    return { text: `${session.id} ${told}.`, data: { session: boundedSession(session) } };
  },
});

const abort = sessionTool({
  name: 'pulse_abort',
  title: 'Abort a session',
  description: 'End a session for good: its agent is stopped at once. Its branch stays.',
  input: abortInput,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  async run({ sessionId }, caller) {
    const pulse = await caller.pulse();
    const session = await pulse.abort(sessionId, { actor: caller.actor });
    return {
      text: `${headline(session)}\nnext: ${nextStep(session, 'none')}`,
      data: { session: boundedSession(session) },
    };
  },
});

const context = sessionTool({
  name: 'pulse_context',
  title: 'Show what the agent was told',
  description: 'The newest iteration’s brief and anchor, and the newest turns of the session.',
  input: contextInput,
  annotations: { readOnlyHint: true },
  async run({ sessionId, maxTurns = 10 }, caller) {
    const pulse = await caller.pulse();
    return contextView(await pulse.context(sessionId, { maxTurns }));
  },
});
