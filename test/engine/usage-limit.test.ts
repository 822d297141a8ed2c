/** An agent at its usage limit: the wait is in the store, and a fallback agent takes over. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { openStore } from '../../src/store/open.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { until } from '../e2e/scene.ts';
import { createScratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';

const HOUR_MS = 3_600_000;
const TIMING = { pollMs: 50, quietPollMs: 50 };

const atItsLimit = (resetAt: string) => [
  { type: 'limit', message: 'The limit is reached.', resetAt },
  { type: 'done', ok: false, failure: 'usage_limit', message: 'The limit is reached.' },
];
const WORKS = [
  { type: 'text', text: 'Did it.\n<signal>COMPLETE</signal>' },
  { type: 'done', ok: true },
];

interface Place {
  environment: NodeJS.ProcessEnv;
  pulse: Pulse;
  store: Store;
  /** The agent's recording, which is its command. */
  recording: string;
  /** What the agent does from now on. */
  plays(events: readonly object[]): void;
  start(input?: { model?: string; maxIterations?: number }): Promise<string>;
  starts(id: string): Promise<{ agent: string; attempt: number }[]>;
}

async function makePlace(url: string | undefined, config = ''): Promise<Place> {
  const scratch = createScratch();
  await writeTrustedConfig(scratch.repository, { text: config, environment: scratch.environment });
  const speed = { PULSE_REPLAY_SPEED: '0', PULSE_DEMO_SPEED: '0' };
  const environment = { ...scratch.environment, PULSE_DATABASE_URL: url, ...speed };
  const pulse = await createPulse({ environment, timing: TIMING });
  const { store } = await openStore({ url, path: pulse.home.database });
  onTestFinished(async () => {
    await store.close();
    await pulse[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });
  const recording = join(scratch.path, 'played.jsonl');
  return {
    environment,
    pulse,
    store,
    recording,
    plays(events) {
      const lines = [
        { type: 'recording', version: 1, agent: 'test', at: '' },
        ...events.map((event) => ({ atMs: 0, event })),
      ];
      writeFileSync(recording, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    },
    async start(input) {
      const { session } = await pulse.start({
        ...{ goal: 'g', path: scratch.repository, createdBy: 'cli' as const },
        ...{ agent: 'replay', command: recording, ...input },
      });
      return session.id;
    },
    async starts(id) {
      const { events } = await pulse.export(id);
      return events
        .filter(({ type }) => type === 'iteration.started')
        .map(({ data }) => ({ agent: String(data.agent), attempt: Number(data.attempt) }));
    },
  };
}

describe.each(['SQLite', 'PostgreSQL'])('a usage limit on %s', { timeout: 60_000 }, (name) => {
  let postgres: SharedPostgres | null = null;
  beforeAll(async () => {
    postgres = name === 'PostgreSQL' ? await sharePostgres() : null;
  }, 60_000);
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  it('is waited for across a restart, to the same moment, and the attempt is done again then', async () => {
    const { pulse, environment, store, plays, start, starts } = await makePlace(
      await postgres?.createDatabase(),
    );
    const resetAt = new Date(Date.now() + 2 * HOUR_MS).toISOString();
    plays(atItsLimit(resetAt));
    const id = await start();
    const stop = new AbortController();
    const before = pulse.run(id, stop.signal);
    await until('it waits', async () => (await pulse.session(id)).resume_at !== null);
    const { resume_at: resumeAt } = await pulse.session(id);
    expect(Math.abs(Date.parse(resumeAt ?? '') - Date.parse(resetAt))).toBeLessThan(10_000);
    stop.abort();
    await before;

    plays(WORKS);
    await using again = await createPulse({ environment, timing: TIMING });
    const after = again.run(id, new AbortController().signal);
    await until('another runs it', async () => (await again.runner(id)) === 'alive');
    expect(await again.session(id)).toMatchObject({ status: 'running', resume_at: resumeAt });
    expect(await starts(id)).toEqual([{ agent: 'replay', attempt: 1 }]);

    await store.tx('test', async (db) => {
      await db.updateTable('inbox_tasks').set({ run_at: storeNow() }).where('session_id', '=', id).execute();
    });
    await after;
    expect(await again.session(id)).toMatchObject({ status: 'complete', resume_at: null });
    expect(await starts(id)).toEqual([
      { agent: 'replay', attempt: 1 },
      { agent: 'replay', attempt: 2 },
    ]);
  });

  it('is not waited for where another agent takes over: with its own model, and nothing of the first', async () => {
    const url = await postgres?.createDatabase();
    const { pulse, store, plays, start, starts } = await makePlace(url, 'fallbackAgent: demo\n');
    plays(atItsLimit(new Date(Date.now() + HOUR_MS).toISOString()));
    const id = await start({ model: 'of-the-first', maxIterations: 1 });
    await pulse.run(id, new AbortController().signal);
    expect(await starts(id)).toEqual([
      { agent: 'replay', attempt: 1 },
      { agent: 'demo', attempt: 2 },
    ]);
    expect(await pulse.session(id)).toMatchObject({ agent: 'replay', status: 'blocked', resume_at: null });
    const [task] = await store.read((db) =>
      db.selectFrom('inbox_tasks').select('spec').where('session_id', '=', id).execute(),
    );
    const spec: unknown = typeof task?.spec === 'string' ? JSON.parse(task.spec) : task?.spec;
    expect(spec).toMatchObject({ agent: 'demo', command: null, model: null, resume: null });
  });
});
