/** Our inbox on PostgreSQL beside two queues made for it, on the same server: one task at a time, then many. */
import { Logger, run } from 'graphile-worker';
import pg from 'pg';
import PgBoss from 'pg-boss';
import type { AttemptResult, AttemptSpec } from '../src/domain/attempt.ts';
import type { Listener } from '../src/engine/ports.ts';
import { createPostgresDoorbell } from '../src/engine/wake/postgres-doorbell.ts';
import { claimTask, closeTask, insertTask, saveResult } from '../src/store/inbox.ts';
import { openPostgres } from '../src/store/open-postgres.ts';
import { admit } from '../test/fakes/admit.ts';
import { startPostgres } from '../test/fakes/postgres.ts';
import { ms, type Row, tell } from './row.ts';
import { median, quantile } from './statistics.ts';

const ONE_BY_ONE = 100;
const AT_ONCE = 1_000;
const WORKERS = 4;
/** The shortest that pg-boss takes; it has no notification. */
const BOSS_POLL_SECONDS = 0.5;
const BOSS_BATCH = 50;
const LATER = new Date(Date.now() + 3_600_000);

const SPEC: AttemptSpec = {
  projectPath: '/project',
  remote: null,
  projectKey: 'project',
  worktreePath: '/worktree',
  startSha: 'a'.repeat(40),
  branch: 'b',
  agent: 'command',
  command: 'true',
  unit: null,
  verifyOn: 'complete',
  verify: [],
  setup: [],
  role: 'worker',
  tools: [],
  identity: null,
  recoverTo: null,
  environmentPass: [],
  record: false,
  limits: { hardMs: 60_000, idleMs: null, usd: null, tokens: null, timeMs: null },
};

const RESULT: AttemptResult = {
  stage: 'reported',
  ranBy: 'bench',
  run: null,
  setupFailure: null,
  commit: null,
  tree: null,
  files: [],
  verification: [],
};

interface Measured {
  latencies: number[];
  perSecond: number;
}

await using server = await startPostgres();
const own = await measureInbox(await server.createDatabase());
const graphile = await measureGraphile(await server.createDatabase());
const boss = await measureBoss(await server.createDatabase());
tell([latencyRow(), throughputRow()]);

function latencyRow(): Row {
  const show = ({ latencies }: Measured) =>
    `p50 ${ms(median(latencies))}, p99 ${ms(quantile(latencies, 0.99))}`;
  return {
    what: '(d) PostgreSQL: task handed in → claimed',
    measured: show(own),
    beside: `graphile-worker ${show(graphile)}; pg-boss (poll ${BOSS_POLL_SECONDS} s) ${show(boss)}`,
    result: `${(median(own.latencies) / median(graphile.latencies)).toFixed(2)}× graphile-worker`,
    target: '',
    isMet: null,
  };
}

function throughputRow(): Row {
  const show = ({ perSecond }: Measured) => `${Math.round(perSecond).toLocaleString('en')} tasks/s`;
  return {
    what: `(d) PostgreSQL: ${AT_ONCE.toLocaleString('en')} waiting tasks, ${WORKERS} workers`,
    measured: show(own),
    beside: `graphile-worker ${show(graphile)}; pg-boss (batches of ${BOSS_BATCH}) ${show(boss)}`,
    result: `${(own.perSecond / graphile.perSecond).toFixed(2)}× graphile-worker`,
    target: '',
    isMet: null,
  };
}

/** As a fleet uses it: written by one process, claimed by another, so that the ring goes through the server. */
async function measureInbox(url: string): Promise<Measured> {
  const store = await openPostgres({ url });
  const worker = await openPostgres({ url });
  const bell = createPostgresDoorbell({ pool: store.pool });
  const workerBell = createPostgresDoorbell({ pool: worker.pool });
  const sessions = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, number) =>
      admit(store, { id: `ses_${number}`, branch_name: `b${number}` }),
    ),
  );
  let written = 0;
  const write = (sessionId: string, iterationNumber: number): Promise<void> =>
    store.tx('write', (db) => insertTask(db, task(sessionId, { id: `tsk_${++written}`, iterationNumber })));
  const claim = (sessionId: string) =>
    worker.tx('claim', (db) => claimTask(db, { owner: 'bench', leaseMs: 60_000, sessionId }));
  const finish = (held: { id: string; token: number }): Promise<void> =>
    worker.tx('finish', async (db) => {
      await saveResult(db, held, RESULT);
      await closeTask(db, held.id, 'complete');
    });

  const [first = ''] = sessions;
  const latencies: number[] = [];
  {
    using listener = workerBell.listen(first);
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (let number = 1; number <= ONE_BY_ONE; number++) {
      const claimed = claimWhenRung(listener, () => claim(first));
      const began = performance.now();
      await write(first, number);
      bell.ring(first);
      const held = await claimed;
      latencies.push(performance.now() - began);
      await finish(held);
      await pauseBetween();
    }
  }

  for (const sessionId of sessions) await write(sessionId, ONE_BY_ONE + 1);
  const waiting = [...sessions];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      for (let sessionId = waiting.pop(); sessionId; sessionId = waiting.pop()) {
        const held = await claim(sessionId);
        if (held) await finish(held);
      }
    }),
  );
  const perSecond = (AT_ONCE / (performance.now() - began)) * 1000;
  await bell[Symbol.asyncDispose]();
  await workerBell[Symbol.asyncDispose]();
  await store.close();
  await worker.close();
  return { latencies, perSecond };
}

async function claimWhenRung<T>(listener: Listener, claim: () => Promise<T | null>): Promise<T> {
  for (;;) {
    await listener.wait(2_000);
    const held = await claim();
    if (held) return held;
  }
}

async function measureGraphile(connectionString: string): Promise<Measured> {
  const pool = new pg.Pool({ connectionString, max: 10 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const counter = createCounter();
  const options = { pgPool: pool, concurrency: WORKERS, noHandleSignals: true, logger: silent() };
  const start = () => run({ ...options, taskList: { bench: async () => counter.count() } });
  const first = await start();
  const latencies: number[] = [];
  for (let number = 0; number < ONE_BY_ONE; number++) {
    const handled = counter.next(1);
    const began = performance.now();
    await first.addJob('bench', { number });
    latencies.push((await handled) - began);
    await pauseBetween();
  }
  for (let number = 0; number < AT_ONCE; number++) await first.addJob('bench', { number }, { runAt: LATER });
  await first.stop();
  await pool.query('UPDATE graphile_worker._private_jobs SET run_at = now()');
  const drained = counter.next(AT_ONCE);
  const began = performance.now();
  const second = await start();
  const perSecond = (AT_ONCE / ((await drained) - began)) * 1000;
  await second.stop();
  await pool.end();
  return { latencies, perSecond };
}

async function measureBoss(connectionString: string): Promise<Measured> {
  const boss = new PgBoss({ connectionString, max: 10 });
  boss.on('error', () => undefined);
  await boss.start();
  await boss.createQueue('bench');
  const counter = createCounter();
  const options = { pollingIntervalSeconds: BOSS_POLL_SECONDS, batchSize: BOSS_BATCH };
  const work = async (jobs: unknown[]): Promise<void> => {
    for (const _ of jobs) counter.count();
  };
  await boss.work('bench', options, work);
  const latencies: number[] = [];
  for (let number = 0; number < ONE_BY_ONE / 4; number++) {
    const handled = counter.next(1);
    const began = performance.now();
    await boss.send('bench', { number });
    latencies.push((await handled) - began);
    await pauseBetween();
  }
  await boss.offWork('bench');
  for (let number = 0; number < AT_ONCE; number++) await boss.send('bench', { number });
  const drained = counter.next(AT_ONCE);
  const began = performance.now();
  for (let worker = 0; worker < WORKERS; worker++) await boss.work('bench', options, work);
  const perSecond = (AT_ONCE / ((await drained) - began)) * 1000;
  await boss.stop({ graceful: false });
  return { latencies, perSecond };
}

function createCounter(): { count(): void; next(tasks: number): Promise<number> } {
  let left = 0;
  let done: (moment: number) => void = () => undefined;
  return {
    count() {
      left -= 1;
      if (left === 0) done(performance.now());
    },
    next(tasks) {
      left = tasks;
      return new Promise((resolve) => {
        done = resolve;
      });
    },
  };
}

/** Not in step with anybody's timer. */
function pauseBetween(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20 + 30 * Math.random()));
}

function silent() {
  return new Logger(() => () => undefined);
}

function task(sessionId: string, { id, iterationNumber }: { id: string; iterationNumber: number }) {
  const context = {
    pulseSessionId: sessionId,
    iterationNumber,
    projectId: 'p',
    branchName: 'b',
    sliceId: null,
  };
  return { id, content: 'brief', spec: SPEC, context, attempt: 1, labels: [] };
}
