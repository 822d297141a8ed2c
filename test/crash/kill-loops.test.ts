import { afterAll, beforeAll } from 'vitest';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { killLoops } from './kill-loops.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

killLoops({ store: 'SQLite', prepare: async () => undefined });
killLoops({
  store: 'PostgreSQL',
  isSecond: true,
  async prepare(scratch) {
    scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
  },
});
