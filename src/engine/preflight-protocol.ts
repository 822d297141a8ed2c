/** What happens inside a preflight agent's run: what it records, and its judged end. */
import { type IdSource, uuidv7 } from '../domain/ids.ts';
import type { BaselineIssue } from '../domain/workflow.ts';
import { fencedTask, holdsTask } from '../store/inbox.ts';
import { listRecorded, recordIssue } from '../store/recorded-issues.ts';
import type { Db, Store } from '../store/store.ts';
import { findWorkflow } from '../store/workflows.ts';
import type { ToolReply } from '../tools/contract.ts';
import { type PreflightDoneInput, preflightTools, type RecordInput } from '../tools/preflight-tools.ts';
import { createQueue } from '../tools/work/queue.ts';
import type { HeldAttempt } from './ports.ts';
import type { RunProtocol } from './pulse-protocol.ts';

export interface PreflightProtocolOptions {
  attempt: HeldAttempt;
  store: Store;
  ids: IdSource;
}

/** A record is durable before it is acknowledged; the agent's count is held against the store (contract 3). */
export function createPreflightProtocol({ attempt, store, ids }: PreflightProtocolOptions): RunProtocol {
  const { sessionId, runId, task } = attempt;
  /** An agent may call several at once: the count is judged when what came before it is in the store. */
  const calls = createQueue();
  let accepted: (PreflightDoneInput & { records: BaselineIssue[] }) | null = null;

  async function recording(db: Db) {
    const workflow = await findWorkflow(db, sessionId);
    return { workflowId: workflow!.id, runId };
  }

  async function record(input: RecordInput): Promise<ToolReply> {
    if (accepted) return { ok: false, output: 'Preflight is done already. End your run now.' };
    const issue = { ...recorded(input), id: `bas_${uuidv7(ids)}` };
    const count = await store.tx(
      'record_baseline',
      async (db) => {
        if (!(await holdsTask(db, task))) throw fencedTask(task.id);
        const own = await recording(db);
        await recordIssue(db, own, issue);
        return (await listRecorded(db, own)).length;
      },
      { session: sessionId },
    );
    return { ok: true, output: `Recorded; ${count} so far.` };
  }

  async function done(input: PreflightDoneInput): Promise<ToolReply> {
    const records = await store.read(async (db) => listRecorded(db, await recording(db)));
    const reasons: string[] = [];
    if (input.baselinesRecorded !== records.length) {
      const { baselinesRecorded: said } = input;
      reasons.push(`baselinesRecorded says ${said}, but ${records.length} were recorded.`);
    }
    const isExplained = records.some(({ issueType, source }) => issueType === 'Error' && source === 'Build');
    if (!input.buildSuccess && !isExplained) {
      reasons.push('buildSuccess is false, but no Build error was recorded that explains it.');
    }
    if (reasons.length > 0) return { ok: false, output: 'Not accepted yet.', reasons };
    accepted = { ...input, records };
    return { ok: true, output: 'Preflight is done. End your run now.' };
  }

  return {
    tools: preflightTools({
      record: (input) => calls.inTurn(() => record(input)),
      done: (input) => calls.inTurn(() => done(input)),
    }),
    saw: () => undefined,
    called: () => undefined,
    report: () => ({ preflight: accepted }),
  };
}

function recorded({ issueType, source, pattern, filePath, description }: RecordInput): BaselineIssue {
  return {
    command: null,
    issueType,
    source,
    pattern,
    filePath: filePath ?? null,
    description: description ?? null,
    count: 1,
    category: issueType === 'Error' ? 'error' : 'warning',
  };
}
