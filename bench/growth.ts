/** Whether looking costs the same with a thousand sessions and ten thousand iterations as with ten of each. */
import { createApi } from '../src/api/api.ts';
import { createLoops } from '../src/engine/loops.ts';
import { isStillWaiting, loadState } from '../src/engine/runner/state.ts';
import { createGoalLoop } from '../src/loops/goal/index.ts';
import { createPulse } from '../src/pulse.ts';
import { openReader } from '../src/reader.ts';
import { claimTask, insertTask } from '../src/store/inbox.ts';
import { insertIteration } from '../src/store/iterations.ts';
import { openSqlite } from '../src/store/open-sqlite.ts';
import { listSessions } from '../src/store/sessions.ts';
import type { Db, Store } from '../src/store/store.ts';
import { admit } from '../test/fakes/admit.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { words } from '../test/fakes/words.ts';
import { newIteration, newTask, sessionId } from '../test/store/rows.ts';
import { ms, type Row, tell, times } from './row.ts';
import { median } from './statistics.ts';

const LOOKS = 300;
const RUNNING = sessionId(0);
const SELF = {
  owner: 'a',
  owners: () => 'alive' as const,
  host: 'host',
  leases: { mayTake: () => false },
  loops: createLoops([createGoalLoop({ compose: () => Promise.reject(new Error('not composed')) })]),
};
type Look = [what: string, look: (db: Db) => Promise<unknown>];

using scratch = createScratch();
const [few, many] = [await measure('few', 10), await measure('many', 1_000)];
tell(
  few.map(
    ([what, small], index): Row => ({
      what: `(m) ${what}, 1,000 sessions and 10,000 iterations`,
      measured: ms(many[index]![1]),
      beside: `10 sessions and 100 iterations: ${ms(small)} (medians of ${LOOKS})`,
      result: times(many[index]![1] / small),
      target: '≤ 1.5×',
      isMet: many[index]![1] / small <= 1.5,
    }),
  ),
);

async function measure(name: string, sessions: number): Promise<[string, number][]> {
  const home = `${scratch.path}/${name}`;
  const store = await openSqlite({ path: `${home}/pulse.db` });
  await fill(store, sessions);
  const state = await store.read((db) => loadState(db, RUNNING, SELF));
  const looks: Look[] = [
    ['the newest ten sessions (`list`)', (db) => listSessions(db, { limit: 10 })],
    ['those that run (`list --status`)', (db) => listSessions(db, { status: 'running', limit: 10 })],
    ['a whole fold of a running session', (db) => loadState(db, RUNNING, SELF)],
    ['a wake of it by its agent', (db) => isStillWaiting(db, state, SELF)],
  ];
  const medians: [string, number][] = [];
  for (const [what, look] of looks) medians.push([what, await medianOf(() => store.read(look))]);
  await store.close();
  await using reader = await openReader({ environment: { ...scratch.environment, PULSE_HOME: home } });
  medians.push(['the morning view (`status`)', await medianOf(() => reader.overview())]);
  medians.push(['`/metrics`', await scrape(home)]);
  return medians;
}

async function scrape(home: string): Promise<number> {
  await using pulse = await createPulse({ environment: { ...scratch.environment, PULSE_HOME: home } });
  const app = createApi({ pulse, token: 'none', runSession: () => undefined });
  return await medianOf(async () => {
    const text = await (await app.request('/metrics')).text();
    if (!text.includes('pulse_sessions')) throw new Error(`no figures: ${text}`);
  });
}

async function medianOf(look: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let number = 0; number < LOOKS; number++) {
    const began = performance.now();
    await look();
    took.push(performance.now() - began);
  }
  return median(took);
}

/** One session runs, with half of all iterations; the others have ended. */
async function fill(store: Store, sessions: number): Promise<void> {
  const long = sessions * 5;
  // What ended today is shown, up to fifty of it; here all is older.
  const ended_at = new Date(Date.now() - 2 * 86_400_000).toISOString();
  await admit(store, { id: RUNNING, status: 'running', current_iteration: long });
  for (let number = 1; number < sessions; number++)
    await admit(store, { id: sessionId(number), status: 'complete', ended_at });
  await store.tx('fill', async (db) => {
    for (let number = 1; number < long; number++) await insertIteration(db, iteration(RUNNING, number));
    for (let number = 0; number < long; number++)
      await insertIteration(
        db,
        iteration(sessionId(1 + (number % (sessions - 1))), 1 + Math.floor(number / (sessions - 1))),
      );
    await insertIteration(db, newIteration(RUNNING, long, { status: 'running' }));
    await insertTask(db, newTask(RUNNING, long));
    await claimTask(db, { owner: 'a', leaseMs: 3_600_000, sessionId: RUNNING });
  });
}

function iteration(session: string, number: number) {
  const texts = { task_content: words(2_000, number), output_full: words(2_000, number + 1) };
  return newIteration(session, number, { ...texts, status: 'complete', outcome: 'continued' });
}
