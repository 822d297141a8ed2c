/**
 * What research reports to the commander (docs/protocol/research.md, Commander). It is written in the transaction of the
 * step it describes, so the built-in commander has it exactly once; the outbox brings it to a commander elsewhere.
 */
import { COMMANDER_AGENT, experimentTaskId, sessionMessageId } from '../../../domain/commander.ts';
import type { NewEvent } from '../../../domain/events.ts';
import { redact } from '../../../domain/redact.ts';
import type { Stop } from '../../../engine/loop.ts';
import type { Session, SessionControl } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import {
  isStatusDue,
  mailboxResult,
  mailboxStatus,
  type Progress,
  progressOf,
  statusLine,
} from '../report/progress.ts';
import { rowOf, rowsOf } from '../report/result-rows.ts';
import { type ExperimentHead, listExperimentHeads, type Research } from '../rows.ts';
import type { ExperimentChange } from '../state.ts';
import { amendCall, enqueueCall } from './outbox.ts';
import {
  addCommanderComment,
  claimCommanderTask,
  completeCommanderTask,
  describeCommanderTask,
  insertCommanderMessage,
  insertCommanderTask,
} from './rows.ts';
import { taskComment, taskDescription, taskResult } from './texts.ts';

const TASK = 'commander_task';
const MAILBOX = 'commander_mailbox';

interface Reporter {
  session: Session;
  control: SessionControl;
}

/** What is needed of a session's state to tell of its experiments. */
export interface ReportingSession {
  control: SessionControl;
  research: { lead: Session; research: Research };
}

/** Create and claim, when the idea is known. A new description of the same experiment changes the task's. */
export async function reportIdea(
  db: Db,
  reporter: Reporter,
  { number, description }: { number: number; description: string },
): Promise<void> {
  const { session } = reporter;
  const id = experimentTaskId(session.id, number);
  const created = {
    operation: 'create',
    description: redact(taskDescription(number, description)),
    working_directory: session.project_path,
    group_id: session.id,
  };
  const { operation: _, ...task } = created;
  const isNew = await insertCommanderTask(db, { id, session_id: session.id, experiment: number, ...task });
  const tell = outbox(db, reporter, { unit: `exp-${number}`, taskId: id });
  if (!isNew) {
    await describeCommanderTask(db, id, created.description);
    await amendCall(db, callKey(session.id, `exp-${number}`, 'create'), created);
    return;
  }
  await claimCommanderTask(db, id, COMMANDER_AGENT);
  await tell('create', TASK, created);
  await tell('claim', TASK, { operation: 'claim', agent_name: COMMANDER_AGENT });
}

/** Complete, with every result, and the comment; every five experiments the status. Returns the events for it. */
export async function reportOutcome(
  db: Db,
  state: ReportingSession,
  change: Pick<ExperimentChange, 'experiment' | 'status' | 'patch'>,
): Promise<NewEvent[]> {
  const { lead: session, research } = state.research;
  const reporter = { session, control: state.control };
  const { number } = change.experiment;
  const head = { ...change.experiment, ...change.patch, status: change.status } as ExperimentHead;
  // It has had no idea yet: its run stopped to ask.
  if (head.description === '') return [];
  await reportIdea(db, reporter, { number, description: head.description });
  if (change.status === 'running') return [];
  const row = rowOf(session, head);
  const result = redact(taskResult(row, research.best ?? Number.NaN));
  const body = redact(taskComment(row));
  const id = experimentTaskId(session.id, number);
  await completeCommanderTask(db, id, result);
  await addCommanderComment(db, { taskId: id, agentName: COMMANDER_AGENT, body });
  const tell = outbox(db, reporter, { unit: `exp-${number}`, taskId: id });
  await tell('complete', TASK, { operation: 'complete', result });
  await tell('comment:add', TASK, { operation: 'comment:add', body, agent_name: COMMANDER_AGENT });
  if (!isStatusDue(number)) return [];
  const progress = await progressNow(db, state, { isGoalReached: false });
  await send(db, reporter, { what: `status-${number}`, type: 'status', body: mailboxStatus(progress) });
  const { metric, keeps, discards, crashes } = progress;
  const data = { number, text: statusLine(progress), metric, keeps, discards, crashes };
  return [{ type: 'experiment.status', data }];
}

/** The result, when the loop has come to its end; a session that may go on has none yet. */
export async function reportEnd(db: Db, reporter: ReportingSession, stop: Stop): Promise<void> {
  if (stop.status !== 'complete') return;
  const progress = await progressNow(db, reporter, { isGoalReached: stop.reason === 'completed' });
  await send(
    db,
    { session: reporter.research.lead, control: reporter.control },
    { what: 'result', type: 'result', body: mailboxResult(progress) },
  );
}

async function progressNow(
  db: Db,
  { research }: ReportingSession,
  { isGoalReached }: { isGoalReached: boolean },
): Promise<Progress> {
  const { lead, research: flow } = research;
  const rows = rowsOf(lead, flow, await listExperimentHeads(db, lead.id));
  return progressOf(rows, { iterations: flow.iterations, isGoalReached });
}

async function send(
  db: Db,
  reporter: Reporter,
  { what, type, body }: { what: string; type: 'status' | 'result'; body: string },
): Promise<void> {
  const { session } = reporter;
  const message = {
    from_agent: COMMANDER_AGENT,
    to_agent: 'commander',
    body: redact(body),
    message_type: type,
  };
  const id = sessionMessageId(session.id, what);
  await insertCommanderMessage(db, { id, group_id: session.id, ...message });
  const tell = outbox(db, reporter, { unit: what, taskId: null });
  await tell('send', MAILBOX, { operation: 'send', ...message });
}

/** Nothing is put there for a session that has no commander elsewhere. */
function outbox(
  db: Db,
  { session, control }: Reporter,
  { unit, taskId }: { unit: string; taskId: string | null },
) {
  return async (operation: string, tool: string, given: Record<string, unknown>): Promise<void> => {
    if (!control.settings.commander) return;
    const key = callKey(session.id, unit, operation);
    await enqueueCall(db, { session_id: session.id, key, tool, arguments: given, task_id: taskId });
  };
}

function callKey(sessionId: string, unit: string, operation: string): string {
  return `${sessionId}/${unit}/${operation}`;
}
