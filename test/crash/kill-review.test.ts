import { afterAll, beforeAll } from 'vitest';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { killReview } from './kill-review.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

killReview({ store: 'SQLite', prepare: async () => undefined });
killReview({
  store: 'PostgreSQL',
  isSecond: true,
  async prepare(scratch) {
    scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
  },
});
