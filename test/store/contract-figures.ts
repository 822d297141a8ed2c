/** The part of the store's contract about its figures: however sessions went, they are the sum of all rows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SESSION_TRANSITIONS, type SessionStatus } from '../../src/domain/status.ts';
import { countEnded, type Figures, lookAtFigures, readFigures } from '../../src/store/figures.ts';
import { insertIteration, listIterations, moveIteration } from '../../src/store/iterations.ts';
import { addSpending, getControl, getSession, moveSession, updateControl } from '../../src/store/sessions.ts';
import type { Db, Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { newIteration, sessionId } from './rows.ts';

/** Quarters of a dollar: their sums are exact. */
const spending = fc.record({
  costUsd: fc.nat({ max: 40 }).map((n) => n / 4),
  tokens: fc.nat({ max: 9_999 }),
});
const which = fc.nat({ max: 3 });
const STATUSES = ['running', 'paused', 'complete', 'aborted'] as const;
const event = fc.oneof(
  fc.record({ is: fc.constant('admit' as const), parent: fc.option(which) }),
  fc.record({ is: fc.constant('move' as const), which, to: fc.constantFrom(...STATUSES) }),
  fc.record({ is: fc.constant('spend' as const), which, spending }),
  fc.record({ is: fc.constant('dispatch' as const), which }),
  fc.record({ is: fc.constant('settle' as const), which }),
  fc.record({ is: fc.constant('count' as const) }),
);
type Happening = typeof event extends fc.Arbitrary<infer T> ? T : never;

async function naiveFigures(db: Db): Promise<Figures> {
  const rows = await db
    .selectFrom('pulse_sessions as session')
    .innerJoin('session_controls as control', 'control.session_id', 'session.id')
    .select(['status', 'spent_usd', 'total_tokens_used', 'settled_iterations'])
    .execute();
  const sessions: Figures['sessions'] = {};
  for (const { status } of rows) sessions[status] = (sessions[status] ?? 0) + 1;
  const total = (of: (row: (typeof rows)[number]) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  return {
    sessions,
    spentUsd: total((row) => row.spent_usd),
    tokens: total((row) => Number(row.total_tokens_used)),
    iterationsSettled: total((row) => row.settled_iterations),
  };
}

export function figuresContract(open: () => Promise<Store>): void {
  describe('figures', () => {
    it('are the sum of all rows after any history', async () => {
      const store = await open();
      let admitted = 0;
      const property = fc.asyncProperty(fc.array(event, { maxLength: 40, size: 'max' }), async (history) => {
        const ids: string[] = [];
        const begun: Happening[] = [
          { is: 'admit', parent: null },
          { is: 'admit', parent: 0 },
        ];
        for (const happening of [...begun, ...history]) {
          if (happening.is === 'admit') {
            const id = sessionId(++admitted);
            const parent = happening.parent === null ? undefined : ids[happening.parent];
            await admit(store, { id, status: 'running', parent_session_id: parent ?? null });
            ids.push(id);
          } else await happen(store, ids, happening);
        }
        expect(await store.read(readFigures)).toEqual(await store.read(naiveFigures));
      });
      await fc.assert(property, { numRuns: 25 });
      // And once everything has ended and was counted.
      await store.tx('test', (db) => countEnded(db));
      expect(await store.read(readFigures)).toEqual(await store.read(naiveFigures));
    });

    it('lose and double nothing that is spent while sessions are counted', async () => {
      const stores = [await open(), await open(), await open()];
      const ids = Array.from({ length: 20 }, (_, index) => sessionId(index + 1));
      for (const id of ids) await admit(stores[0]!, { id, status: 'complete', spent_usd: 1 });
      await Promise.all([
        ...ids.map((id, index) =>
          stores[index % 2]!.tx('test', (db) => addSpending(db, id, { costUsd: 0.5, tokens: 7 })),
        ),
        ...[1, 2].map((at) => stores[at]!.tx('test', (db) => countEnded(db))),
      ]);
      const found = await stores[0]!.read(readFigures);
      expect(found).toEqual(await stores[0]!.read(naiveFigures));
      expect(found).toMatchObject({ sessions: { complete: 20 }, spentUsd: 30, tokens: 140 });
    });

    it('are counted by whoever looks, once there are enough of them', async () => {
      const store = await open();
      const uncounted = () =>
        store.read(async (db) =>
          (await db.selectFrom('session_controls').selectAll().execute()).filter(
            (row) => row.is_counted === 0,
          ),
        );
      for (let number = 1; number <= 60; number++)
        await admit(store, { id: sessionId(number), status: 'aborted', spent_usd: 0.25 });
      await admit(store, { id: sessionId(61), status: 'failed' });
      const first = await lookAtFigures(store);
      expect(first).toMatchObject({ sessions: { aborted: 60, failed: 1 }, spentUsd: 15 });
      expect((await uncounted()).map((row) => row.session_id)).toEqual([sessionId(61)]);
      expect(await lookAtFigures(store)).toEqual(first);
    });
  });
}

async function happen(
  store: Store,
  ids: readonly string[],
  happening: Exclude<Happening, { is: 'admit' }>,
): Promise<void> {
  await store.tx('test', async (db) => {
    if (happening.is === 'count') return countEnded(db);
    const id = ids[happening.which];
    if (id === undefined) return;
    const session = await getSession(db, id);
    const [newest] = (await listIterations(db, id)).slice(-1);
    const isLive = newest?.status === 'running';
    if (happening.is === 'spend') await addSpending(db, id, happening.spending);
    else if (happening.is === 'dispatch' && session.status === 'running' && !isLive)
      await insertIteration(db, newIteration(id, (newest?.iteration_number ?? 0) + 1, { status: 'running' }));
    // Also of a session that has ended meanwhile.
    else if (happening.is === 'settle' && newest && isLive) {
      await moveIteration(db, newest, 'complete', { outcome: 'continued' });
      const { settled_iterations } = await getControl(db, id);
      await updateControl(db, id, { settled_iterations: settled_iterations + 1 });
    } else if (happening.is === 'move' && canMove(session.status, happening.to))
      await moveSession(db, session, happening.to);
  });
}

function canMove(from: SessionStatus, to: SessionStatus): boolean {
  return (SESSION_TRANSITIONS[from] as readonly SessionStatus[]).includes(to);
}
