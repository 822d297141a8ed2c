/** Mail and reservations as 32 agents use them: half reads, over the real HTTP surface, on both stores. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startPostgres } from '../test/fakes/postgres.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { ms, type Row, tell } from './row.ts';
import { median, quantile } from './statistics.ts';

const CLIENTS = 32;
const WARM_MS = 1_000;
const MEASURED_MS = Number(process.env.PULSE_BENCH_MS ?? 8_000);
const PULSE = join(import.meta.dirname, '../bin/pulse.js');

interface Measured {
  perSecond: number;
  latencies: number[];
}

const sqlite = await measure({});
await using server = await startPostgres();
const postgres = await measure({ PULSE_DATABASE_URL: await server.createDatabase() });
tell([row('SQLite', sqlite, 1_000), row('PostgreSQL', postgres, 500)]);

function row(store: string, { perSecond, latencies }: Measured, target: number): Row {
  const p99 = quantile(latencies, 0.99);
  return {
    what: `(q) mail and reservations over HTTP, ${CLIENTS} clients, half reads, ${store}`,
    measured: `p50 ${ms(median(latencies))}, p99 ${ms(p99)}`,
    beside: '',
    result: `${Math.round(perSecond).toLocaleString('en')} requests/s`,
    target: `≥ ${target.toLocaleString('en')}/s${store === 'SQLite' ? ', p99 ≤ 50 ms' : ''}`,
    isMet: perSecond >= target && (store !== 'SQLite' || p99 <= 50),
  };
}

async function measure(more: NodeJS.ProcessEnv): Promise<Measured> {
  using scratch = createScratch();
  const environment = { ...scratch.environment, ...more };
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const serve = spawn(process.execPath, [PULSE, 'serve', '--port', String(port)], {
    cwd: scratch.repository,
    env: environment,
    stdio: 'ignore',
  });
  try {
    await answers(url);
    const token = readFileSync(join(scratch.home, 'token'), 'utf8').trim();
    return await load({ url, token, project: scratch.repository });
  } finally {
    serve.kill('SIGTERM');
    await once(serve, 'close');
  }
}

async function answers(url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await fetch(`${url}/api/health`).catch(() => null))?.ok) return;
    await delay(50);
  }
  throw new Error('serve does not answer');
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Target {
  url: string;
  token: string;
  project: string;
}

async function load(target: Target): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const ask = (method: string, path: string, body?: object) =>
    call({ ...target, agent }, { method, path, body });
  const names = Array.from({ length: CLIENTS }, (_, index) => `Agent-${index}`);
  for (const name of names) await ask('POST', '/api/mail/agents', { project_key: target.project, name });
  const project = encodeURIComponent(target.project);
  const latencies: number[] = [];
  const began = performance.now() + WARM_MS;
  const until = began + MEASURED_MS;
  await Promise.all(names.map(client));
  agent.destroy();
  return { perSecond: latencies.length / (MEASURED_MS / 1_000), latencies };

  async function client(name: string, index: number): Promise<void> {
    const to = names[(index + 1) % CLIENTS]!;
    for (let round = 0; performance.now() < until; round++) {
      await timed(() => ask('POST', '/api/mail', message({ from: name, to, round })));
      await timed(() => ask('GET', `/api/mail?project_key=${project}&agent_name=${name}&limit=10`));
      const paths = [`src/${name}/${round % 5}/**`, `test/${name}-${round % 5}.*`];
      const held = { project_key: target.project, agent_name: name, paths };
      await timed(() => ask('POST', '/api/reservations', held));
      await timed(() => ask('GET', `/api/reservations?project_key=${project}`));
      if (round % 2 === 1) await timed(() => ask('POST', '/api/reservations/release', held));
      if (round % 2 === 1)
        await timed(() => ask('GET', `/api/mail?project_key=${project}&topic=epic-1&limit=10`));
    }
  }

  async function timed(work: () => Promise<void>): Promise<void> {
    const start = performance.now();
    await work();
    const end = performance.now();
    if (start >= began && end <= until) latencies.push(end - start);
  }

  function message({ from, to, round }: { from: string; to: string; round: number }): object {
    return {
      project_key: target.project,
      ...{ sender_name: from, to: [to], topic: 'epic-1', subject: `Completed bead-${round}` },
      body_md:
        `Implemented the parser of part ${round}. Files: lib/parser.ts. Verification: tests passed. `.repeat(
          3,
        ),
    };
  }
}

function call(
  { url, token, agent }: { url: string; token: string; agent: Agent },
  { method, path, body }: { method: string; path: string; body?: object },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request(`${url}${path}`, { method, agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () =>
        (answer.statusCode ?? 500) < 300
          ? resolve()
          : reject(new Error(`${method} ${path}: ${answer.statusCode}`)),
      );
    });
    sent.once('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}
