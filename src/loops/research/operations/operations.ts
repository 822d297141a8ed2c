/** The operations on research, ready to be called. */

import * as z from 'zod';
import type { Operations } from '../../../operations/context.ts';
import { DiffAnswer } from '../../../operations/dashboard/view-schema.ts';
import { answeringOperation, operation } from '../../../operations/operation.ts';
import { boundedSession, cut, startedText } from '../../../operations/session/tool-text.ts';
import { waitForStop } from '../../../operations/wait-for-stop.ts';
import { orYaml } from '../../../operations/yaml-field.ts';
import { researchInputSchema } from '../research-file.ts';
import { listMessages, listTasks } from './commander.ts';
import * as definitions from './definitions.ts';
import { diffExperiment, viewExperiments } from './experiments.ts';
import { finishResearch } from './finish.ts';
import { readResearch, reportResearch, startResearch, writeResearchReport } from './research.ts';
import { researchText } from './tool-text.ts';
import { viewResearch } from './view.ts';
import {
  Experiment,
  FinishAnswer,
  MailboxAnswer,
  ResearchAnswer,
  ResearchStartAnswer,
  TasksAnswer,
} from './view-schema.ts';

export const RESEARCH_INSTRUCTIONS =
  'Research pushes a metric by measured experiments: pulse_research_start, then pulse_research_show.';

const REPORT_LENGTH = 500_000;

const show = operation(definitions.show, {
  async run(operations, { sessionId, ...wait }) {
    await waitForStop(operations, sessionId, wait);
    return viewResearch(operations, sessionId);
  },
  view: ResearchAnswer,
  tell: async (view, { runner }) => researchText(view, await runner(view.session.id)),
});

export const researchOperations = {
  start: answeringOperation(definitions.start, {
    run: startResearch,
    schemas: { content: orYaml(researchInputSchema) },
    view: ResearchStartAnswer,
    async answer({ id }, _, call) {
      const { session, research } = await call(show, { sessionId: id });
      return { sessionId: id, session, research };
    },
    tell: (started) => startedText(started, 'pulse_research_show, with waitSeconds'),
  }),
  show,
  experiments: operation(definitions.experiments, {
    run: (operations, { sessionId, ...page }) => viewExperiments(operations, sessionId, page),
    view: z.object({ experiments: z.array(Experiment), nextAfter: z.int().nullable() }),
  }),
  experimentDiff: operation(definitions.experimentDiff, {
    run: (operations, { sessionId, ...query }) => diffExperiment(operations, sessionId, query),
    view: DiffAnswer,
  }),
  rows: operation(definitions.rows, {
    run: (operations, { sessionId }) => readResearch(operations, sessionId),
  }),
  report: operation(definitions.report, {
    run: (operations, { sessionId }) => reportResearch(operations, sessionId),
    page: (text) => ({ text }),
    tell: (html) => ({ text: cut(html, REPORT_LENGTH), data: { html: cut(html, REPORT_LENGTH) } }),
  }),
  finish: answeringOperation(definitions.finish, {
    run: (operations, { sessionId, ...finish }) => finishResearch(operations, sessionId, finish),
    view: FinishAnswer,
    async answer({ id }, finished, call) {
      const { session, research } = await call(show, { sessionId: id });
      return { session, research, implementation: finished?.implementation ?? null };
    },
    tell({ session, research, implementation }) {
      const next = implementation
        ? [
            `${implementation.beads} beads of the epic ${implementation.epic}`,
            `next: pulse_swarm_show ${implementation.swarm}, with waitSeconds`,
          ]
        : [];
      return {
        text: [`${session.id}: ${research.phase}`, ...next].join('\n'),
        data: { session: boundedSession(session), phase: research.phase, implementation },
      };
    },
  }),
  writeReport: operation(definitions.writeReport, {
    run: async (operations, { sessionId, title, summary }) => ({
      path: await writeResearchReport(operations, sessionId, { title, summary }),
    }),
    tell: ({ path }) => ({ text: `The report is in ${path}`, data: { path } }),
  }),
  listTasks: operation(definitions.listTasks, {
    run: async (operations, { sessionId }) => ({
      tasks: await listTasks(operations, { group_id: await groupOf(operations, sessionId) }),
    }),
    view: TasksAnswer,
  }),
  listMessages: operation(definitions.listMessages, {
    run: async (operations, { sessionId }) => ({
      messages: await listMessages(operations, { group_id: await groupOf(operations, sessionId) }),
    }),
    view: MailboxAnswer,
  }),
};

/** The tasks and messages of several sessions that work together are those of the one that a person started. */
async function groupOf(operations: Operations, sessionId: string): Promise<string> {
  const { session } = await readResearch(operations, sessionId);
  return session.parent_session_id ?? session.id;
}
