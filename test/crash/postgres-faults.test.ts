/** What a fleet's database does to a session: it goes away, cuts a connection after COMMIT, or cannot LISTEN. */
import { spawn } from 'node:child_process';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { type Postgres, startPostgres } from '../fakes/postgres.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';

const FIXTURE = (await bundlePackage())('test/crash/fixtures/runner.ts');
const COMMAND =
  'echo "$PULSE_ITERATION" >> log.txt; sleep 0.2; if [ "$PULSE_ITERATION" -ge 4 ]; then echo "<signal>COMPLETE</signal>"; else echo "<signal>CONTINUE</signal>"; fi';

describe('a session on PostgreSQL', () => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('goes on after the server was stopped at once in the middle of it', { timeout: 90_000 }, async () => {
    using scratch = createScratch();
    scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
    const sessionId = await admit(scratch);
    const first = runner(scratch, sessionId);
    await delay(1_500);
    server.crash();
    await delay(500);
    await server.start();
    await first;
    await runUntilEnded(scratch, sessionId);
    await expectSound(scratch, sessionId);
  });

  it('does nothing twice when connections are cut after COMMIT was sent', { timeout: 90_000 }, async () => {
    using scratch = createScratch();
    const url = await server.createDatabase();
    await using proxy = await startCuttingProxy(Number(new URL(url).port));
    const direct = { ...scratch.environment, PULSE_DATABASE_URL: url };
    scratch.environment.PULSE_DATABASE_URL = url.replace(/:\d+\//, `:${proxy.port}/`);
    const sessionId = await admit({ ...scratch, environment: direct });
    await runUntilEnded(scratch, sessionId);
    expect(proxy.cuts()).toBeGreaterThan(2);
    await expectSound({ ...scratch, environment: direct }, sessionId);
  });

  it('needs no LISTEN: behind a pooler that refuses it the poll finds everything', {
    timeout: 90_000,
  }, async () => {
    using scratch = createScratch();
    const url = await server.createDatabase();
    await using proxy = await startCuttingProxy(Number(new URL(url).port), { forbids: 'LISTEN' });
    scratch.environment.PULSE_DATABASE_URL = url.replace(/:\d+\//, `:${proxy.port}/`);
    const sessionId = await admit(scratch);
    expect(await runner(scratch, sessionId)).toBe(0);
    await expectSound(scratch, sessionId);
  });
});

async function admit(scratch: Scratch): Promise<string> {
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.start({
    goal: 'Count',
    path: scratch.repository,
    command: COMMAND,
    createdBy: 'cli',
  });
  return session.id;
}

function runner(scratch: Scratch, sessionId: string): Promise<number | string | null> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', FIXTURE, sessionId], {
    env: scratch.environment,
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
}

/** As the supervisor does: again, until it ends by itself. */
async function runUntilEnded(scratch: Scratch, sessionId: string): Promise<void> {
  const ends: (number | string | null)[] = [];
  for (let tries = 0; tries < 60; tries++) {
    ends.push(await runner(scratch, sessionId));
    if (ends.at(-1) === 0) return;
  }
  throw new Error(`the session did not end: ${ends.join(' ')}`);
}

async function expectSound(scratch: Scratch, sessionId: string): Promise<void> {
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.show(sessionId);
  expect(session).toMatchObject({ status: 'complete', current_iteration: 4, total_commits: 4 });
  expect(scratch.git('show', `${session.branch_name}:log.txt`).split('\n')).toEqual(['1', '2', '3', '4']);
  const { events } = await pulse.export(sessionId);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter((event) => event.type === 'iteration.settled')).toHaveLength(4);
  expect(scratch.git('for-each-ref', 'refs/pulse/attempts')).toBe('');
}

interface Proxy extends AsyncDisposable {
  port: number;
  cuts(): number;
}

/** Beyond this it lets everything pass: a slow machine reads more often, and must get through all the same. */
const MOST_CUTS = 12;

/** Passes bytes to the server; cuts every 20th connection's answer to a COMMIT, or refuses a statement. */
async function startCuttingProxy(serverPort: number, { forbids }: { forbids?: string } = {}): Promise<Proxy> {
  let commits = 0;
  let cut = 0;
  const sockets = new Set<Socket>();
  const proxy: Server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    let isDoomed = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1').toUpperCase();
      if (forbids && text.includes(forbids)) return void client.destroy();
      if (!forbids && text.includes('COMMIT') && ++commits % 20 === 0 && cut < MOST_CUTS) isDoomed = true;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!isDoomed) return void client.write(chunk);
      cut += 1;
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cuts: () => cut,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
