import { afterAll, beforeAll } from 'vitest';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { killInterventions } from './kill-interventions.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

killInterventions({ store: 'SQLite', prepare: async () => undefined });
killInterventions({
  store: 'PostgreSQL',
  isSecond: true,
  async prepare(scratch) {
    scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
  },
});
