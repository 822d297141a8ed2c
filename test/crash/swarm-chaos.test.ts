/** Swarms in trouble: a small one always, one of twenty beads in the rest, and two hundred on both stores in all. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createScratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { IS_ALL, IS_MORE, IS_WHOLE, SEED } from '../lanes/lane.ts';
import { surviveChaos } from './swarm-chaos.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a swarm in trouble', () => {
  it.runIf(IS_WHOLE)(`of 3 workers closes each of 8 beads once (PULSE_TEST_SEED=${SEED})`, async () => {
    using scratch = createScratch();
    await surviveChaos(scratch, { workers: 3, beads: 8, kills: 2, seed: SEED });
  });

  it.runIf(IS_MORE)(`of 4 workers closes each of 20 beads once (PULSE_TEST_SEED=${SEED})`, async () => {
    using scratch = createScratch();
    await surviveChaos(scratch, { workers: 4, beads: 20, kills: 3, seed: SEED });
  });

  it.runIf(IS_ALL).each(['SQLite', 'PostgreSQL'])(
    `of 8 workers closes each of 200 beads once on %s (PULSE_TEST_SEED=${SEED})`,
    { timeout: 1_800_000 },
    async (store) => {
      using scratch = createScratch();
      if (store === 'PostgreSQL') scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
      await surviveChaos(scratch, { workers: 8, beads: 200, kills: 20, seed: SEED });
    },
  );
});
