import { afterAll, beforeAll } from 'vitest';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { killSuite } from './kill-suite.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

killSuite({
  store: 'PostgreSQL',
  isSecond: true,
  async prepare(scratch) {
    scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
  },
});
