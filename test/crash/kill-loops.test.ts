import { afterAll, beforeAll } from 'vitest';
import { type Postgres, startPostgres } from '../fakes/postgres.ts';
import { killLoops } from './kill-loops.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

killLoops('SQLite', async () => undefined);
killLoops('PostgreSQL', async (scratch) => {
  scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
});
