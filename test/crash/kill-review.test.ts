import { afterAll, beforeAll } from 'vitest';
import { type Postgres, startPostgres } from '../fakes/postgres.ts';
import { killReview } from './kill-review.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

killReview('SQLite', { prepare: async () => undefined });
killReview('PostgreSQL', {
  isShort: true,
  async prepare(scratch) {
    scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
  },
});
