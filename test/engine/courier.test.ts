/** The courier alone, on a real store, with a commander that does as it is told. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { systemClock } from '../../src/engine/wake/clock.ts';
import {
  type CommanderCall,
  type CommanderReply,
  startCourier,
} from '../../src/loops/research/commander/deliver.ts';
import { enqueueCall, listCalls } from '../../src/loops/research/commander/outbox.ts';
import { readReply } from '../../src/loops/research/commander/parse-reply.ts';
import { insertCommanderTask } from '../../src/loops/research/commander/rows.ts';
import { insertResearch } from '../../src/loops/research/rows.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { admit } from '../fakes/admit.ts';

const ANSWERED: CommanderReply = { kind: 'answered', taskId: 7 };
const TARGET = { url: 'http://commander.example/mcp' };
const WHERE = { cwd: '/', environmentPass: [] };

/** A session with a task that is to be created, claimed and completed elsewhere. */
async function makeScene(
  answer: (call: CommanderCall, count: number) => CommanderReply | Promise<CommanderReply>,
) {
  const store = await openSqlite({ path: ':memory:' });
  onTestFinished(() => store.close());
  const sessionId = await admit(store, { kind: 'research' });
  const task = {
    session_id: sessionId,
    experiment: 1,
    group_id: null,
    description: 'x',
    working_directory: null,
  };
  await store.tx('admit', async (db) => {
    await insertResearch(db, { sessionId, content: {}, iterations: 1, parallel: 1 });
    await insertCommanderTask(db, { id: 'cmd_1', ...task });
    for (const operation of ['create', 'claim', 'complete']) {
      const call = { tool: 'commander_task', arguments: { operation }, task_id: 'cmd_1' };
      await enqueueCall(db, { session_id: sessionId, key: operation, ...call });
    }
  });
  const calls: CommanderCall[] = [];
  const engine = {
    store,
    trace: () => undefined,
    clock: systemClock,
    timing: { quietPollMs: 10 },
    bell: { listen: () => ({ wait: async () => undefined, [Symbol.dispose]: () => undefined }) },
  } as unknown as Engine;
  const commanders = {
    debug: () => undefined,
    open: () => ({
      async call(call: CommanderCall) {
        calls.push(call);
        return answer(call, calls.length);
      },
      [Symbol.asyncDispose]: async () => undefined,
    }),
  };
  return {
    calls,
    finish: async (token: number, isOver: boolean, isAborted = false) => {
      await using courier = startCourier(engine, {
        commanders,
        sessionId,
        token,
        target: TARGET,
        where: WHERE,
      });
      await courier.finish({ isOver, isAborted });
      return (await store.read((db) => listCalls(db, sessionId))).map(
        ({ status, tries }) => `${status} ${tries}`,
      );
    },
  };
}

describe('the courier', () => {
  it('of a session that was aborted still brings what is answered soon: a task is not left claimed', async () => {
    const { finish } = await makeScene(() => sleep(20, ANSWERED));
    expect(await finish(0, true, true)).toEqual(['delivered 1', 'delivered 1', 'delivered 1']);
  });

  it('brings what waits, in order, with the id that the commander gave', async () => {
    const { calls, finish } = await makeScene(() => ANSWERED);
    expect(await finish(0, false)).toEqual(['delivered 1', 'delivered 1', 'delivered 1']);
    expect(calls.map(({ key, arguments: given }) => [key, given])).toEqual([
      ['create', { operation: 'create' }],
      ['claim', { operation: 'claim', task_id: 7 }],
      ['complete', { operation: 'complete', task_id: 7 }],
    ]);
  });

  it('of a runner that was replaced brings nothing: its successor does', async () => {
    const { calls, finish } = await makeScene(() => ANSWERED);
    expect(await finish(5, false)).toEqual(['pending 0', 'pending 0', 'pending 0']);
    expect(calls).toEqual([]);
  });

  it('gives up what nobody answers at the end of a session, and keeps it for one that may go on', async () => {
    const { finish } = await makeScene(() => ({ kind: 'unavailable', message: 'gone' }));
    const [first, ...others] = await finish(0, false);
    expect(first).toMatch(/^pending [12]$/);
    expect(others).toEqual(['pending 0', 'pending 0']);
    expect((await finish(0, true)).map((row) => row.split(' ')[0])).toEqual([
      'skipped',
      'skipped',
      'skipped',
    ]);
  });

  it('asks a commander that refuses once, and not about what it does not have', async () => {
    const { calls, finish } = await makeScene(() => ({ kind: 'refused', message: 'no' }));
    expect(await finish(0, false)).toEqual(['refused 1', 'skipped 0', 'skipped 0']);
    expect(calls).toHaveLength(1);
  });

  it('goes on where the commander comes back', async () => {
    const { calls, finish } = await makeScene((_, count) =>
      count === 1 ? { kind: 'unavailable', message: 'busy' } : ANSWERED,
    );
    await finish(0, false);
    expect(await finish(0, false)).toEqual(['delivered 2', 'delivered 1', 'delivered 1']);
    expect(calls.map(({ key }) => key)).toEqual(['create', 'create', 'claim', 'complete']);
  });
});

describe('an answer', () => {
  const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
  it.each([
    [{ structuredContent: { task_id: 184 } }, 184],
    [{ structuredContent: { task: { id: 'abc' } } }, 'abc'],
    [{ structuredContent: { result: { task: { taskId: 'x-1' } } } }, 'x-1'],
    [text('{"task_id": 9}'), 9],
    [text('{"ok": true, "task": {"id": "t9"}}'), 't9'],
    [text('184'), 184],
    [text('Created task #184.'), 184],
    [text('Task ID: abc-12, created'), 'abc-12'],
    [text('Task created.'), null],
    [text('ok'), null],
    [{ content: [{ type: 'image' }, null] }, null],
    [null, null],
    [{}, null],
  ])('%j names the task %j', (result, taskId) => {
    expect(readReply(result)).toEqual({ kind: 'answered', taskId });
  });

  it('that is an error is a refusal in its own words', () => {
    expect(readReply({ isError: true, ...text('not today') })).toEqual({
      kind: 'refused',
      message: 'not today',
    });
    expect(readReply({ isError: true })).toEqual({ kind: 'refused', message: 'an error' });
  });
});
