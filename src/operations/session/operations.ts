/** The operations on sessions of any loop, ready to be called. */
import { abort, pause, resume } from '../control.ts';
import { acceptChecks, rejectChecks, viewChangedChecks } from '../decide-checks.ts';
import { exportSession } from '../export.ts';
import { askVerification, viewJob } from '../jobs.ts';
import { keptWork } from '../kept-work.ts';
import { note } from '../note.ts';
import { operation } from '../operation.ts';
import { verifySession } from '../verify.ts';
import {
  viewContext,
  viewEvidence,
  viewIteration,
  viewSession,
  viewSessions,
  viewVerifications,
} from '../view.ts';
import { waitForStop } from '../wait-for-stop.ts';
import * as definitions from './definitions.ts';
import {
  boundedSession,
  contextText,
  goesOnText,
  headline,
  listText,
  nextStep,
  statusText,
} from './tool-text.ts';
import {
  ChangedChecksAnswer,
  EvidenceAnswer,
  IterationAnswer,
  JobAnswer,
  JobAskedAnswer,
  JobView,
  SessionAnswer,
  SessionsAnswer,
  SessionViewAnswer,
  VerificationsAnswer,
} from './view-schema.ts';

const TURNS = 10;

export const sessionOperations = {
  show: operation(definitions.show, {
    async run(operations, { sessionId, ...wait }) {
      await waitForStop(operations, sessionId, wait);
      const view = await viewSession(operations, sessionId);
      return { ...view, kept: await keptWork(operations.git, view.session) };
    },
    view: SessionViewAnswer,
    tell: async (view, { runner }) => statusText(view, await runner(view.session.id)),
  }),
  list: operation(definitions.list, {
    async run(operations, { status, limit, cursor }) {
      const more = limit === undefined ? undefined : limit + 1;
      const found = await viewSessions(operations, { status, limit: more, before: cursor });
      const sessions = found.slice(0, limit);
      return { sessions, nextCursor: found.length > sessions.length ? (sessions.at(-1)?.id ?? null) : null };
    },
    view: SessionsAnswer,
    tell: ({ sessions }) => listText(sessions),
  }),
  showIteration: operation(definitions.showIteration, {
    run: (operations, { sessionId, number }) => viewIteration(operations, sessionId, number),
    view: IterationAnswer,
  }),
  showVerifications: operation(definitions.showVerifications, {
    run: async (operations, { sessionId }) => ({
      verifications: await viewVerifications(operations, sessionId),
    }),
    view: VerificationsAnswer,
  }),
  showEvidence: operation(definitions.showEvidence, {
    run: (operations, { sessionId }) => viewEvidence(operations, sessionId),
    view: EvidenceAnswer,
  }),
  askVerification: operation(definitions.askVerification, {
    run: (operations, { sessionId, keep }) => askVerification(operations, { sessionId, keep }),
    view: JobAskedAnswer,
  }),
  showJob: operation(definitions.showJob, {
    run: async (operations, { jobId }) => ({ job: JobView.parse(await viewJob(operations, jobId)) }),
    view: JobAnswer,
  }),
  pause: operation(definitions.pause, {
    run: async (operations, { sessionId, ...how }) => ({ session: await pause(operations, sessionId, how) }),
    view: SessionAnswer,
    tell({ session }, { input: { now } }) {
      const when = now ? 'now' : 'after the current iteration';
      const text = session.status === 'paused' ? 'is paused' : `pauses ${when}`;
      return { text: `${session.id} ${text}.`, data: { session: boundedSession(session) } };
    },
  }),
  resume: operation(definitions.resume, {
    run: (operations, { sessionId, ...input }) => resume(operations, sessionId, input),
    view: SessionAnswer,
    tell: ({ session }) => goesOnText(session, 'pulse_status'),
  }),
  note: operation(definitions.note, {
    run: (operations, { sessionId, ...input }) => note(operations, sessionId, input),
    view: SessionAnswer,
    tell({ session, next }) {
      const told = next === 'run' ? 'continues with the answer' : 'has the note';
      return { text: `${session.id} ${told}.`, data: { session: boundedSession(session) } };
    },
  }),
  accept: operation(definitions.accept, {
    run: (operations, { sessionId, ...input }) => acceptChecks(operations, sessionId, input),
    view: SessionAnswer,
    tell: ({ session }) => goesOnText(session, 'pulse_status'),
  }),
  reject: operation(definitions.reject, {
    run: (operations, { sessionId, ...input }) => rejectChecks(operations, sessionId, input),
    view: SessionAnswer,
    tell: ({ session }) => goesOnText(session, 'pulse_status'),
  }),
  showChecks: operation(definitions.showChecks, {
    run: (operations, { sessionId }) => viewChangedChecks(operations, sessionId),
    view: ChangedChecksAnswer,
  }),
  abort: operation(definitions.abort, {
    run: async (operations, { sessionId, ...how }) => ({ session: await abort(operations, sessionId, how) }),
    view: SessionAnswer,
    tell: ({ session }) => ({
      text: `${headline(session)}\nnext: ${nextStep(session, 'none')}`,
      data: { session: boundedSession(session) },
    }),
  }),
  showContext: operation(definitions.showContext, {
    run: (operations, { sessionId, maxTurns = TURNS }) => viewContext(operations, sessionId, { maxTurns }),
    tell: contextText,
  }),
  verify: operation(definitions.verify, {
    run: (operations, { sessionId, signal }) => verifySession(operations, sessionId, signal),
  }),
  export: operation(definitions.exportSession, {
    run: (operations, { sessionId }) => exportSession(operations, sessionId),
  }),
};
