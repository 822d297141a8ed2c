/** One PostgreSQL for all files of a run. A test that stops the server has its own (postgres.ts). */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { openPostgres } from '../../src/store/open-postgres.ts';
import { startPostgres } from './postgres.ts';

const TEMPLATE = 'pulse_template';

/** Of the process that runs the whole; it ends the server. */
export interface ServedPostgres extends AsyncDisposable {
  url: string;
}

export async function serveTemplates(): Promise<ServedPostgres> {
  const server = await startPostgres({ isDurable: false });
  await ask(server.url, `CREATE DATABASE ${TEMPLATE}`);
  const store = await openPostgres({ url: databaseAt(server.url, TEMPLATE) });
  await store.close();
  // Nobody may be connected to what is copied, autovacuum neither.
  await ask(server.url, `ALTER DATABASE ${TEMPLATE} WITH ALLOW_CONNECTIONS false IS_TEMPLATE true`);
  return server;
}

/** Of one test file. Disposing of it removes the databases that it has made. */
export interface SharedPostgres extends AsyncDisposable {
  /** The address of a new database with Pulse's tables, or with nothing at all. */
  createDatabase(options?: { isEmpty?: boolean }): Promise<string>;
}

export async function sharePostgres(): Promise<SharedPostgres> {
  const url = await askForServer();
  const names: string[] = [];
  return {
    async createDatabase({ isEmpty = false } = {}) {
      const name = `test_${randomBytes(6).toString('hex')}`;
      await ask(url, `CREATE DATABASE ${name} STRATEGY file_copy${isEmpty ? '' : ` TEMPLATE ${TEMPLATE}`}`);
      names.push(name);
      return databaseAt(url, name);
    },
    async [Symbol.asyncDispose]() {
      await ask(url, ...names.map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

async function askForServer(): Promise<string> {
  const { url, error } = JSON.parse(await text(connect(process.env.PULSE_TEST_POSTGRES!))) as {
    url?: string;
    error?: string;
  };
  if (!url) throw new Error(`PostgreSQL did not start: ${error}`);
  return url;
}

async function ask(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function databaseAt(url: string, name: string): string {
  return url.replace(/[^/]*$/, name);
}
