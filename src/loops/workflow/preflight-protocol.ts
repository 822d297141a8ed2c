/** What happens inside a preflight agent's run: what it records, and its judged end. */
import { uuidv7 } from '../../domain/ids.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ProtocolRun, RunProtocol } from '../../engine/work.ts';
import type { Db } from '../../store/store.ts';
import type { ToolReply } from '../../tools/contract.ts';
import { createQueue } from '../../tools/work/queue.ts';
import type { BaselineIssue } from './model.ts';
import { type PreflightDoneInput, preflightTools, type RecordInput } from './preflight-tools.ts';
import { listRecorded, recordIssue } from './recorded-issues.ts';
import { findWorkflow } from './rows.ts';
import type { PreflightWork, WorkflowRun } from './work-data.ts';

/** A record is durable before it is acknowledged; the agent's count is held against the store. */
export function createPreflightProtocol({
  attempt,
  listener,
  store,
  ids,
}: ProtocolRun<PreflightWork> & Pick<Engine, 'store' | 'ids'>): RunProtocol {
  const { sessionId, runId } = attempt;
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
    const count = await listener.write('record_baseline', async (db) => {
      const own = await recording(db);
      await recordIssue(db, own, issue);
      return (await listRecorded(db, own)).length;
    });
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
    report: () => ({ own: { preflight: accepted } satisfies WorkflowRun }),
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
