/** What an assistant may do with research; what becomes of the findings is a person's to decide. */
import type { McpTool } from '../tools/mcp-server.ts';
import { statusInput } from './inputs.ts';
import {
  researchFinishInput,
  researchReportInput,
  researchStartInput,
  showReportInput,
} from './research-inputs.ts';
import { researchView } from './research-views.ts';
import { type Caller, requireHuman, sessionTool } from './session-tool.ts';
import { demandNarrow, started, startWords } from './starting.ts';
import { boundedSession, cut } from './views.ts';
import { waitForStop } from './waiting.ts';

export function researchTools(caller: Caller): McpTool[] {
  return [start, show, report, finish, showReport].map((tool) => tool(caller));
}

const CHANGES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
const REPORT_LENGTH = 500_000;

const start = sessionTool({
  name: 'pulse_research_start',
  title: 'Start research',
  description:
    'Push a metric: an agent tries one small change after the other, Pulse measures each and keeps only what truly ' +
    'helps. Returns at once with the session id.',
  input: researchStartInput,
  annotations: CHANGES,
  async run(input, caller) {
    demandNarrow(caller, 'pulse_research_start', input);
    const { research: content, ...given } = input;
    const { research } = await caller.pulse();
    const admitted = await research.start({ ...startWords(given), content }, caller.take);
    return started(caller, admitted, 'pulse_research_show, with waitSeconds');
  },
});

const show = sessionTool({
  name: 'pulse_research_show',
  title: 'Show research',
  description: 'How research stands: baseline, experiments, the best so far, and what to do next.',
  input: statusInput,
  annotations: { readOnlyHint: true },
  async run({ sessionId, waitSeconds }, caller, signal) {
    const pulse = await caller.pulse();
    const { session } = await pulse.research.show(sessionId);
    await waitForStop(pulse, session.id, { seconds: waitSeconds, signal });
    return researchView(await pulse.research.show(session.id), await pulse.runner(session.id));
  },
});

const report = sessionTool({
  name: 'pulse_research_report',
  title: 'Read the report of research',
  description:
    'The report as one HTML page: results with plot, plan and reality, kept changes, what did not work.',
  input: researchReportInput,
  annotations: { readOnlyHint: true },
  async run({ sessionId }, caller) {
    const { research } = await caller.pulse();
    const html = await research.report(sessionId);
    return { text: cut(html, REPORT_LENGTH), data: { html: cut(html, REPORT_LENGTH) } };
  },
});

const showReport = sessionTool({
  name: 'show_report',
  title: 'Show the report of research',
  description:
    'Write the report as an HTML file beside the session’s other files and say where it is. Does not wait for anybody.',
  input: showReportInput,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  async run({ sessionId, ...words }, caller) {
    const { research } = await caller.pulse();
    const path = await research.showReport(sessionId, words);
    return { text: `The report is in ${path}`, data: { path } };
  },
});

const finish = sessionTool({
  name: 'pulse_research_finish',
  title: 'Finish research',
  description:
    'What becomes of the findings: a plan of the next steps (implement), left for later (pause), closed (done). The ' +
    'session itself does not change. Only on a person’s word.',
  input: researchFinishInput,
  annotations: CHANGES,
  async run({ sessionId, how }, caller) {
    requireHuman(caller, 'pulse_research_finish');
    const { research: operations } = await caller.pulse();
    const { session, research, implementation } = await operations.finish(sessionId, {
      how,
      actor: caller.actor,
    });
    const text = [
      `${session.id}: ${research.phase}`,
      ...(implementation
        ? [
            `${implementation.steps} next steps in ${implementation.plan}`,
            `next: pulse_workflow_start with that plan, or: ${implementation.command}`,
          ]
        : []),
    ].join('\n');
    return { text, data: { session: boundedSession(session), phase: research.phase, implementation } };
  },
});
