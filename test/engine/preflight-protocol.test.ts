/** What a preflight agent may do to the record of its run, over a real store. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgentLog } from '../../src/engine/attempt/agent-log.ts';
import { runIdOf } from '../../src/engine/attempt/held-attempt.ts';
import { systemClock } from '../../src/engine/wake/clock.ts';
import { createPreflightProtocol } from '../../src/loops/workflow/preflight-protocol.ts';
import { listRecorded } from '../../src/loops/workflow/recorded-issues.ts';
import { insertWorkflow } from '../../src/loops/workflow/rows.ts';
import type { PreflightWork, WorkflowRun } from '../../src/loops/workflow/work-data.ts';
import { claimTask, insertTask, requeueTask } from '../../src/store/inbox.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import type { ToolReply } from '../../src/tools/contract.ts';
import { admit } from '../fakes/admit.ts';
import { newTask, SPEC, sessionId } from '../store/rows.ts';

const ID = sessionId(1);
const WORKFLOW = 'wfl_1';
const AGAIN = { attempt: 2, content: 'brief', spec: SPEC, delayMs: 0, result: null };
let store: Store;

beforeEach(async () => {
  store = await openSqlite({ path: ':memory:' });
  await admit(store, { id: ID, kind: 'workflow' });
  await store.tx('plan', (db) =>
    insertWorkflow(db, {
      ...{ id: WORKFLOW, sessionId: ID, plan: { title: 'Greet', pulses: [] } },
      ...{ checks: [], setupSteps: null, extensions: 'auto' },
    }),
  );
  await store.tx('task', (db) => insertTask(db, newTask(ID, 1)));
});
afterEach(() => store.close());

async function begin() {
  const task = (await store.tx('claim', (db) =>
    claimTask(db, { owner: 'a', leaseMs: 60_000, sessionId: ID }),
  ))!;
  const runId = runIdOf(task.id, task.token);
  using log = createAgentLog({
    ...{ store, clock: systemClock, task },
    ...{ onWritten: () => undefined, onFenced: () => undefined },
  });
  const protocol = createPreflightProtocol({
    attempt: { task, spec: SPEC, sessionId: ID, iteration: 1, runId },
    ...{ listener: log, work: {} as PreflightWork, signal: new AbortController().signal },
    ...{ store, ids: { nowMs: Date.now, randomBytes } },
  });
  const call = (name: string, input: unknown): Promise<ToolReply> =>
    protocol.tools.find((tool) => tool.name === name)!.call(input);
  return {
    report: () => (protocol.report().own as WorkflowRun).preflight,
    record: (pattern: string, rest: object = {}) =>
      call('record_baseline', { issueType: 'Error', source: 'Build', pattern, ...rest }),
    done: (baselinesRecorded: number, buildSuccess = true) =>
      call('preflight_done', { summary: 'ready', setupCommands: [], buildSuccess, baselinesRecorded }),
    recorded: () => store.read((db) => listRecorded(db, { workflowId: WORKFLOW, runId })),
    loseLease: () => store.tx('requeue', (db) => requeueTask(db, task.id, AGAIN)),
  };
}

describe('a preflight agent', () => {
  it('loses nothing that was acknowledged, though it calls everything at once', async () => {
    const run = await begin();
    const [first, early, second, end] = await Promise.all([
      run.record('C1'),
      run.done(0),
      run.record('C2'),
      run.done(2),
    ]);
    expect([first.ok, early.ok, second.ok, end.ok]).toEqual([true, false, true, true]);
    expect(run.report()!.records.map(({ pattern }) => pattern)).toEqual(['C1', 'C2']);
    expect(await run.record('C3')).toMatchObject({ ok: false });
    expect(await run.recorded()).toHaveLength(2);
  });

  it('is told what the store cannot keep, and records it without', async () => {
    const run = await begin();
    for (const reply of [await run.record('C1\0'), await run.record('C1', { description: '\ud800' })])
      expect(reply).toMatchObject({ ok: false, reasons: [expect.stringContaining('NUL')] });
    // Nothing would be left of it, and every issue has nothing in it.
    expect(await run.record('\0')).toMatchObject({ ok: false });
    expect(await run.record('C1')).toEqual({ ok: true, output: 'Recorded; 1 so far.' });
  });

  it('records nothing once its attempt is another’s', async () => {
    const run = await begin();
    await run.record('C1');
    await run.loseLease();
    const next = await begin();
    await expect(run.record('C2')).rejects.toMatchObject({ code: 'fenced' });
    await next.record('C3');
    expect([await run.recorded(), await next.recorded()]).toMatchObject([[], [{ pattern: 'C3' }]]);
  });
});
