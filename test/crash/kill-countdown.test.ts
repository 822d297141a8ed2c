/** Real SIGKILL at the points of a loop that only tests have, on both stores. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../src/engine/actions.ts';
import { LOOPS } from '../../src/loops/all.ts';
import { createPulse } from '../../src/pulse.ts';
import { COUNT_COMMAND, countdown } from '../fakes/countdown/index.ts';
import { startCountdown } from '../fakes/countdown/operations.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { actionOf, drawFor, processesOf, runner, type StoreOfSuite } from './kill-suite.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const POINTS = ['start', 'spawn', 'light_fuse', 'commit', 'land', 'settle', 'end', 'close_worktree'].flatMap(
  (action): CrashPoint[] => [`${action}:before`, `${action}:after`],
);

const PLACES: StoreOfSuite[] = [
  { store: 'SQLite', prepare: async () => undefined },
  {
    store: 'PostgreSQL',
    isSecond: true,
    async prepare(scratch) {
      scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
    },
  },
];

describe.each(PLACES)('a countdown on $store', (place) => {
  // What it has of the engine, a goal has too.
  const kind = (where: CrashPoint) => (/^(spawn|light_fuse):/.test(where) ? actionOf({ where }) : '');
  it.each(drawFor(place, POINTS, { of: 'a countdown', kind }))(
    'that is killed at %s counts each number once',
    async (where) => {
      using scratch = createScratch();
      await place.prepare(scratch);
      const id = await admit(scratch);
      expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
      expect(await runner(scratch, id)).toBe(0);
      await using pulse = await createPulse({
        environment: scratch.environment,
        loops: [...LOOPS, countdown],
      });
      const { session, events } = await pulse.export(id);
      expect(session).toMatchObject({ status: 'complete', total_commits: 2 });
      const log = scratch.git('log', '--reverse', '--format=%s', `main..${session.branch_name}`);
      expect(log.split('\n')).toEqual(['count: 2', 'count: 1']);
      expect(scratch.git('log', '--format=%s', `main..${session.branch_name}-helper`)).toBe('count: 1');
      expect(events.filter(({ type }) => type === 'countdown.lit')).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'countdown.joined')).toHaveLength(1);
      expect(scratch.git('for-each-ref', 'refs/pulse/attempts')).toBe('');
      expect(processesOf(scratch)).toEqual([]);
    },
  );
});

async function admit(scratch: Scratch): Promise<string> {
  await using pulse = await createPulse({ environment: scratch.environment, loops: [...LOOPS, countdown] });
  const input = { path: scratch.repository, command: COUNT_COMMAND, from: 2, hasHelper: true };
  return (await pulse.call(startCountdown, input)).session.id;
}
