/** The part of the store's contract about ended sessions: their long texts are packed, and read as before. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { appendEvents, readEvents, referToOutput } from '../../src/store/events.ts';
import { claimTask, closeTask, findTask, insertTask } from '../../src/store/inbox.ts';
import { findIteration, insertIteration, listIterations, moveIteration } from '../../src/store/iterations.ts';
import { packSession, unpackedSessions } from '../../src/store/pack-session.ts';
import { moveSession } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { findTurn, insertTurn, newestTurn, sessionTurns } from '../../src/store/turns.ts';
import { insertVerifications, listVerifications } from '../../src/store/verifications.ts';
import { admit } from '../fakes/admit.ts';
import { words } from '../fakes/words.ts';
import { attemptResult, newIteration, newTask, runReport, sessionId, verification } from './rows.ts';

const ID = sessionId(1);

/** An ended session as the engine leaves it. */
async function endedSession(
  store: Store,
  { iterations, messageBytes }: { iterations: number; messageBytes: number },
): Promise<void> {
  await admit(store, { id: ID, status: 'running', current_iteration: iterations });
  for (let number = 1; number <= iterations; number++) {
    const message = `${words(messageBytes, number)}\n<signal>CONTINUE</signal>\n`;
    const brief = `# Iteration ${number}\n${words(Math.min(messageBytes, 4_000), number - 1)}`;
    const row = newIteration(ID, number, { task_content: brief });
    const result = attemptResult({
      run: runReport({ finalMessage: message }),
      verification: [verification({ outputTail: words(500, number) })],
    });
    await store.tx('iteration', async (db) => {
      await insertIteration(db, row);
      await insertTask(db, newTask(ID, number, { content: brief }));
      const task = (await claimTask(db, { owner: 'a', leaseMs: 1000, sessionId: ID }))!;
      const { text, more } = { text: message.slice(0, 64 * 1024), more: { phase: 'start', name: 'shell' } };
      await appendEvents(db, ID, [
        { type: 'iteration.started', iteration: number },
        { type: 'agent.tool', iteration: number, data: more },
        { type: 'agent.text', iteration: number, data: { text: `Thinks of ${number}.` } },
        { type: 'agent.text', iteration: number, data: { text } },
      ]);
      await referToOutput(db, { sessionId: ID, iteration: number, output: message });
      const settled = { output_full: message, output_summary: 'A step.', outcome: 'continued' } as const;
      await moveIteration(db, row, 'running');
      await moveIteration(db, { ...row, status: 'running' }, 'complete', settled);
      await closeTask(db, task.id, 'complete', { result });
      await insertVerifications(db, { sessionId: ID, iteration: number, attempt: 1 }, result.verification);
      await insertTurn(db, { ...turn(number, message.trim()), content_from: 'output' });
    });
  }
  await store.tx('end', (db) =>
    moveSession(db, { id: ID, status: 'running', started_at: null }, 'complete', {
      reason: 'completed',
      detail: null,
    }),
  );
}

function turn(number: number, content: string) {
  return {
    ...{
      id: `turn-${number}`,
      parent_id: null,
      project_id: 'project',
      session_id: ID,
      iteration_number: number,
    },
    ...{ role: 'assistant', phase: 'consolidation', content, content_hash: '', salience: 0.5, depth: 0 },
  };
}

/** Everything that a person can ask for. */
function everything(store: Store) {
  return store.read(async (db) => ({
    iterations: await listIterations(db, ID),
    one: await findIteration(db, ID, 3),
    events: await readEvents(db, ID, { limit: 100_000 }),
    page: await readEvents(db, ID, { after: 7, limit: 5 }),
    ofOne: await readEvents(db, ID, { iteration: 2 }),
    verifications: await listVerifications(db, ID),
    turns: await sessionTurns(db, ID, 100),
    turn: await findTurn(db, 'project', 'turn-2'),
    newest: await newestTurn(db, { projectId: 'project' }),
  }));
}

/** Bytes of the columns that hold texts, outside of packs and in all. */
async function keptBytes(store: Store): Promise<{ rows: number; all: number }> {
  const sum = (table: string, column: string) =>
    store.read(async (db) => {
      const size = sql<{
        n: number | null;
      }>`SELECT sum(octet_length(${sql.raw(column)})) AS n FROM ${sql.table(table)}`;
      return Number((await size.execute(db)).rows[0]?.n ?? 0);
    });
  const columns = [
    ['pulse_iterations', 'task_content'],
    ['pulse_iterations', "coalesce(output_full, '')"],
    ['inbox_tasks', 'task_content'],
    ['inbox_tasks', "coalesce(CAST(result AS text), '')"],
    ['inbox_tasks', 'CAST(spec AS text)'],
    ['pulse_events', 'CAST(data AS text)'],
    ['turns', 'content'],
    ['verifications', 'output_tail'],
  ] as const;
  let rows = 0;
  for (const [table, column] of columns) rows += await sum(table, column);
  return { rows, all: rows + (await sum('packs', 'bytes')) };
}

export function packsContract(open: () => Promise<Store>): void {
  describe('an ended session', () => {
    const SIZE = { iterations: 12, messageBytes: 4_000 };

    it('stores each text once while it runs', async () => {
      const store = await open();
      await endedSession(store, SIZE);
      const { rows } = await keptBytes(store);
      // A message, a brief as long, a tail, and what is short.
      expect(rows / SIZE.iterations).toBeLessThan(4_000 + 4_000 + 500 + 3_000);
      const [iteration] = (await everything(store)).iterations;
      const task = (await store.read((db) => findTask(db, iteration!.inbox_task_id!)))!;
      expect([task.task_content, task.result?.run?.finalMessage, task.result?.commit]).toEqual([
        '',
        '',
        'c1',
      ]);
    });

    it.each([
      ['of many short messages', SIZE, 12 * 1024],
      ['of long ones', { iterations: 12, messageBytes: 100_000 }, 60 * 1024],
    ])('is read as before when it is packed, and keeps little: %s', async (_, size, allowed) => {
      const store = await open();
      await endedSession(store, size);
      const before = await everything(store);
      expect(await store.read((db) => unpackedSessions(db, 10))).toEqual([ID]);
      await packSession(store, ID);
      expect(await everything(store)).toEqual(before);
      const { rows, all } = await keptBytes(store);
      expect(rows / size.iterations).toBeLessThan(3_000);
      expect(all / size.iterations).toBeLessThan(allowed);
      expect(await store.read((db) => unpackedSessions(db, 10))).toEqual([]);
    });

    it('is packed once, whoever begins again or does it at the same time', async () => {
      const store = await open();
      await endedSession(store, { iterations: 14, messageBytes: 100_000 });
      const before = await everything(store);
      let left = 2;
      const dying: Store = {
        ...store,
        tx: (label, work, scope) => {
          if (left-- === 0) throw new Error('killed');
          return store.tx(label, work, scope);
        },
      };
      await expect(packSession(dying, ID)).rejects.toThrow('killed');
      expect(await everything(store)).toEqual(before);
      await Promise.all([packSession(store, ID), packSession(await open(), ID)]);
      await packSession(store, ID);
      expect(await everything(store)).toEqual(before);
    });

    it('is left as it is where that would save nothing', async () => {
      const store = await open();
      await endedSession(store, { iterations: 2, messageBytes: 100 });
      await packSession(store, ID);
      const packs = await store.read((db) => db.selectFrom('packs').select('kind').execute());
      expect(packs).toEqual([]);
    });
  });
}
