import { afterAll, beforeAll } from 'vitest';
import { type Postgres, startPostgres } from '../fakes/postgres.ts';
import { killSuite } from './kill-suite.ts';

let server: Postgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

killSuite('PostgreSQL', async (scratch) => {
  scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
});
