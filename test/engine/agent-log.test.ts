import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentLog, createAgentLog } from '../../src/engine/attempt/agent-log.ts';
import { readEvents } from '../../src/store/events.ts';
import { claimTask, closeTask, insertTask, type Task } from '../../src/store/inbox.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { getSession } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { createVirtualTime, type VirtualTime } from '../fakes/virtual-time.ts';
import { newTask, sessionId } from '../store/rows.ts';

const ID = sessionId(1);

describe('the log of a run', () => {
  let store: Store;
  let task: Task;
  let time: VirtualTime;
  let log: AgentLog;
  let commits: string[];
  let rings: number;
  let fenced: unknown[];
  /** The next transactions fail after their work. */
  let failures: number;

  beforeEach(async () => {
    commits = [];
    rings = 0;
    fenced = [];
    failures = 0;
    const opened = await openSqlite({ path: ':memory:', onCommit: (label) => commits.push(label) });
    store = {
      ...opened,
      tx: (label, work) =>
        opened.tx(label, async (db) => {
          const result = await work(db);
          if (failures-- > 0) throw new Error('the disk is full');
          return result;
        }),
    };
    await admit(store, { id: ID });
    await store.tx('insert', (db) => insertTask(db, newTask(ID, 4)));
    task = (await store.tx('claim', (db) => claimTask(db, { owner: 'a', leaseMs: 60_000, sessionId: ID })))!;
    commits = [];
    time = createVirtualTime();
    log = createAgentLog({
      store,
      task,
      clock: time.clock(() => false),
      onWritten: () => void rings++,
      onFenced: (error) => void fenced.push(error),
    });
  });

  afterEach(async () => {
    log[Symbol.dispose]();
    await store.close();
  });

  const say = (text: string) => log.event({ type: 'agent.text', data: { text } });
  const texts = async () =>
    (await store.read((db) => readEvents(db, ID, { after: 1 }))).map(({ data }) => data.text);
  const spending = async () => {
    const { spent_usd, total_tokens_used } = await store.read((db) => getSession(db, ID));
    return [spent_usd, total_tokens_used];
  };
  const finish = async (options?: { onlySpending: boolean }) => {
    await log.close();
    await store.tx('end', (db) => log.finish(db, options));
  };
  /** Virtual time moves to the next timer; what that starts is real work on a real store. */
  const tick = async () => {
    await time.step();
    await delay(20);
  };

  it('writes one batch 250 ms after the first event, with everything until then', async () => {
    const began = time.nowMs();
    say('one');
    say('two');
    await delay(20);
    expect(commits).toEqual([]);
    await tick();
    expect(time.nowMs() - began).toBe(250);
    expect(commits).toEqual(['agent-events']);
    expect(await texts()).toEqual(['one', 'two']);
    expect(rings).toBe(1);
    const [event] = await store.read((db) => readEvents(db, ID, { after: 1 }));
    expect(event!.iteration).toBe(4);
  });

  it('puts lines that were printed together into one event, and loses none that come while it is written', async () => {
    const print = (text: string) => log.event({ type: 'agent.text', data: { text, isPrinted: true } });
    print('one');
    print('two');
    say('a message');
    print('three');
    // The batch is on its way: what it holds stays as it is.
    await time.step();
    print('four');
    await delay(20);
    print('five');
    await finish();
    expect(await texts()).toEqual(['one\ntwo', 'a message', 'three', 'four\nfive']);
  });

  it('opens a new window with the next event, and none while nothing is said', async () => {
    say('one');
    await tick();
    await tick();
    expect(commits).toHaveLength(1);
    say('two');
    await tick();
    expect(commits).toHaveLength(2);
    expect(await texts()).toEqual(['one', 'two']);
  });

  it('writes at once when 64 KB are waiting, once', async () => {
    say('a'.repeat(40_000));
    await delay(20);
    expect(commits).toEqual([]);
    say('b'.repeat(40_000));
    say('c');
    await delay(50);
    expect(commits).toEqual(['agent-events']);
    expect((await texts()).map((text) => String(text)[0])).toEqual(['a', 'b', 'c']);
  });

  it('counts spending to the last token, however it is cut into batches', async () => {
    log.spent({ costUsd: 0.25, tokens: 100 });
    log.spent({ costUsd: 0.5, tokens: 250 });
    await tick();
    expect(await spending()).toEqual([0.5, 250]);
    log.spent({ costUsd: 0.75, tokens: 400 });
    await tick();
    log.spent({ costUsd: 1.5, tokens: 401 });
    await finish();
    expect(await spending()).toEqual([1.5, 401]);
    expect(commits).toEqual(['agent-events', 'agent-events', 'end']);
  });

  it('counts tokens where no cost is known', async () => {
    log.spent({ costUsd: null, tokens: 7 });
    await finish();
    expect(await spending()).toEqual([0, 7]);
  });

  it('hands its rest to the transaction of the run’s end, and writes nothing afterwards', async () => {
    say('one');
    await finish();
    say('late');
    log.spent({ costUsd: 9, tokens: 9 });
    await tick();
    expect(commits).toEqual(['end']);
    expect(await texts()).toEqual(['one']);
    expect(await spending()).toEqual([0, 0]);
  });

  it('keeps the order and loses nothing where the end comes in the middle of a batch', async () => {
    say('a'.repeat(70_000));
    say('b');
    await finish();
    expect((await texts()).map((text) => String(text)[0])).toEqual(['a', 'b']);
  });

  it('writes the same again when the transaction of the end is run again', async () => {
    say('one');
    log.spent({ costUsd: 1, tokens: 1 });
    await log.close();
    failures = 1;
    await expect(store.tx('end', (db) => log.finish(db))).rejects.toThrow('full');
    await store.tx('end', (db) => log.finish(db));
    expect(await texts()).toEqual(['one']);
    expect(await spending()).toEqual([1, 1]);
  });

  it('keeps a batch that could not be written for the end, and says so', async () => {
    failures = 1;
    say('one');
    log.spent({ costUsd: 2, tokens: 20 });
    await tick();
    expect(fenced).toMatchObject([{ message: 'the disk is full' }]);
    expect(await texts()).toEqual([]);
    await finish();
    expect(await texts()).toEqual(['one']);
    expect(await spending()).toEqual([2, 20]);
  });

  it('writes only the spending of a run that was replaced', async () => {
    say('one');
    log.spent({ costUsd: 1, tokens: 10 });
    await finish({ onlySpending: true });
    expect(await texts()).toEqual([]);
    expect(await spending()).toEqual([1, 10]);
  });

  it('writes nothing for an attempt that is no longer its own', async () => {
    await store.tx('close', (db) => closeTask(db, task.id, 'cancelled'));
    say('one');
    await tick();
    expect(fenced).toMatchObject([{ code: 'fenced' }]);
    expect(await texts()).toEqual([]);
    expect(rings).toBe(0);
  });
});
