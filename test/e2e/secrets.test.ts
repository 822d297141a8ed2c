/** No secret that an agent or a command prints is stored, shown, sent or logged. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { EventReader } from '../api/event-reader.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { draw, IS_MORE, IS_WHOLE } from '../lanes/lane.ts';
import { rawCall } from '../mcp/tool-calls.ts';
import { idea, prepareLab, startResearch } from '../research-loop/lab.ts';
import { type Planted, plantSecrets } from './planted.ts';
import { OWN_NODE, PROGRAM } from './scene.ts';

const BIN = join(import.meta.dirname, '../../node_modules/.bin');
const TOKEN = 'the-token-of-the-tests';

interface Place extends AsyncDisposable {
  scratch: Scratch;
  pulse: Pulse;
  environment: NodeJS.ProcessEnv;
  planted: Planted;
}

async function openPlace(more: Record<string, string>): Promise<Place> {
  const scratch = createScratch();
  const planted = plantSecrets(scratch);
  const names = Object.keys(planted.environment);
  await writeTrustedConfig(scratch.repository, {
    text: `env:\n  pass: [${names.join(', ')}, OUT]\n`,
    environment: { ...process.env, PULSE_HOME: scratch.home },
  });
  prepareLab(scratch);
  const PATH = `${dirname(process.execPath)}:${BIN}:${process.env.PATH}`;
  const environment = {
    ...{ PATH, HOME: scratch.path, PULSE_HOME: scratch.home, OUT: scratch.path, PULSE_REPLAY_SPEED: '0' },
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...planted.environment,
    ...more,
  };
  const pulse = await createPulse({ environment });
  return {
    scratch,
    pulse,
    environment,
    planted,
    async [Symbol.asyncDispose]() {
      await pulse[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

/** What a script says that tells everything it knows, on both of its streams. */
const TELL_ALL =
  'echo "$PULSE_TOOLS_TOKEN" >> "$OUT/run-tokens"; cat "$OUT/secrets.txt"; echo "run $PULSE_TOOLS_TOKEN"; ' +
  'cat "$OUT/secrets.txt" >&2; echo "run $PULSE_TOOLS_TOKEN" >&2';

/** Runs every kind of session, each with an agent that cannot keep a secret. Returns their ids. */
async function runAll(place: Place): Promise<string[]> {
  const { pulse, scratch, planted } = place;
  const ids: string[] = [];
  const run = async (id: string) => {
    ids.push(id);
    await pulse.run(id, new AbortController().signal);
    return pulse.session(id);
  };
  const goal = async (input: Partial<Parameters<Pulse['start']>[0]>) => {
    const started = await pulse.start({
      ...{ goal: 'Tell nothing', path: scratch.repository, createdBy: 'cli', record: true, maxIterations: 3 },
      ...input,
    });
    return run(started.session.id);
  };

  const says = scratch.file('says.json', JSON.stringify({ signal: 'BLOCKED', reason: planted.text }));
  expect(
    await goal({
      command: `${TELL_ALL}; test "$PULSE_ITERATION" = 1 && echo "<signal>CONTINUE</signal>" || pulse tool pulse_signal "$(cat ${says})"`,
    }),
  ).toMatchObject({ status: 'blocked', stop_reason: 'blocked_by_agent', current_iteration: 2 });

  expect(
    await goal({
      command: `${TELL_ALL} > all; pulse tool pulse_signal "{\\"signal\\":\\"BLOCKED\\",\\"reason\\":\\"$PULSE_TOOLS_TOKEN\\"}"`,
    }),
  ).toMatchObject({ status: 'blocked' });

  // Both streams end in the middle of a private key.
  const half = 'head -n 20 "$OUT/secrets.txt"';
  expect(await goal({ command: `${TELL_ALL}; ${half}; ${half} >&2; exit 1` })).toMatchObject({
    status: 'failed',
    stop_reason: 'agent_error',
  });

  // Output that is cut is cut through the middle of a secret, wherever that is.
  for (const [index, key] of [planted.environment.AWS_SECRET_ACCESS_KEY!, planted.text].entries()) {
    const file = scratch.file(`long-${index}`, `${key}${'\n.'.repeat(4_080)}`);
    expect(
      await goal({
        command: 'echo "<signal>COMPLETE</signal>"',
        verify: [TELL_ALL, `cat ${file}; exit 1`, `head -c 8170 ${file}; exit 1`],
      }),
    ).toMatchObject({ stop_reason: 'verification_failed' });
  }

  writeFileSync(join(scratch.repository, 'package-lock.json'), '{}');
  for (const end of [
    { type: 'done', ok: false, failure: 'auth', message: planted.text },
    { type: 'done', ok: false, failure: 'crashed', message: planted.text },
    { type: 'done', ok: true },
  ]) {
    const recording = scratch.file('played.jsonl', recordingOf(planted, end));
    expect((await goal({ agent: 'replay', command: recording })).status).not.toBe('running');
  }

  await runWorkflow(place, run);
  const labId = await startResearch(pulse, scratch, {
    scripts: {
      'exp-1': `${TELL_ALL}\npulse tool alert '${JSON.stringify({ text: planted.short })}'\n${idea(planted.short, 'cat "$OUT/secrets.txt"; exit 3')}`,
      'exp-2': `${TELL_ALL}\n${idea(`again ${planted.short}`, 90)}`,
    },
    iterations: 2,
  });
  await run(labId);
  const { experiments } = await pulse.research.rows(labId);
  writeFileSync(join(scratch.home, 'report.html'), await pulse.research.report(labId));
  expect(experiments.map(({ status }) => status).toSorted()).toEqual(['crash', 'keep']);
  return ids;
}

async function runWorkflow(
  { pulse, scratch, planted }: Place,
  run: (id: string) => Promise<{ status: string; stop_reason: string | null }>,
): Promise<void> {
  const subject = `feat: ${planted.environment.MY_SERVICE_TOKEN}`;
  const calls: [string, object][] = [
    ['pulse_done', { summary: planted.text, filesChanged: [planted.text] }],
    ['request_extension', { reason: planted.text, completed: [planted.short], remaining: [planted.short] }],
    ['pulse_done', { summary: `${subject}\n\n${planted.text}`, filesChanged: ['x.txt'] }],
  ];
  const lines = calls.map(([name, input], index) => {
    const file = scratch.file(`call-${index}.json`, JSON.stringify(input));
    return `pulse tool ${name} "$(cat ${file})" >> "$OUT/replies" || true\n`;
  });
  const agent = scratch.file(
    'pulse-agent.sh',
    `#!/bin/sh\ncat > /dev/null\n${TELL_ALL}\necho x > x.txt\n${lines.join('')}`,
  );
  const { session } = await pulse.workflow.start({
    plan: {
      title: 'Tell nothing',
      pulses: [{ id: 'one', title: 'One', description: 'Do it.' }],
      verify: [{ command: `${TELL_ALL}; test -f ok.txt`, source: 'Test' }],
    },
    path: scratch.repository,
    command: agent,
    createdBy: 'cli',
    actor: 'test',
    isApproved: true,
  });
  expect(await run(session.id)).toMatchObject({ status: 'blocked', stop_reason: 'approval_required' });
}

function recordingOf({ text, key }: Planted, end: object): string {
  /** Of a text that is cut there the last sixteen characters are the key's first. */
  const cutAt = (length: number) => `${'x'.repeat(length - 17)} ${key}`;
  const events = [
    { type: 'text', text },
    { type: 'text', text: cutAt(64 * 1024) },
    { type: 'tool_start', id: '1', name: 'bash', summary: text },
    { type: 'tool_start', id: '2', name: 'bash', summary: cutAt(500) },
    { type: 'tool_end', id: '1', ok: false },
    { type: 'denied', tool: 'bash', reason: text },
    { type: 'limit', message: text },
    ...text.split('\n').map((line) => ({ type: 'raw', line })),
    end,
  ];
  const lines = events.map((event) => JSON.stringify({ atMs: 0, event }));
  return [JSON.stringify({ type: 'recording', version: 1, agent: 'test', at: '' }), ...lines, ''].join('\n');
}

/** Every byte that Pulse keeps of the sessions beside the database: logs, recordings, what git holds of messages. */
function filesOf({ scratch }: Place): [string, string][] {
  const kept = readdirSync(scratch.home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/worktrees'))
    .map((entry) => join(entry.parentPath, entry.name));
  const messages = scratch.git('log', '--all', '--format=%B%n%(trailers)');
  return [['git', messages], ...kept.map((file) => [file, readFileSync(file, 'latin1')] as [string, string])];
}

/** What people and programs are shown of each session, on every surface. */
async function shown(place: Place, ids: readonly string[]): Promise<[string, string][]> {
  const { pulse, environment, scratch } = place;
  const texts: [string, string][] = [];
  const commands = ids.flatMap((id) => [
    ...[
      ['status', id],
      ['status', id, '--json'],
      ['log', id, '--json'],
      ['export', id],
      ['watch', id],
    ],
  ]);
  await inParallel([['list'], ['list', '--json'], ...commands], async (args) => {
    const { stdout, stderr } = await promisify(execFile)(OWN_NODE, [PROGRAM, ...args], {
      cwd: scratch.repository,
      env: environment,
      maxBuffer: 2 ** 28,
    }).catch((error: { stdout: string; stderr: string }) => error);
    expect(stdout, `${args.join(' ')}: ${stderr}`).not.toBe('');
    if (args.includes('--json')) for (const line of stdout.trim().split('\n')) JSON.parse(line);
    texts.push([`pulse ${args.join(' ')}`, stdout + stderr]);
  });

  const app = createApi({ pulse, token: TOKEN, runSession: () => undefined });
  for (const id of ids) {
    for (const path of [
      ...['', '/iterations/1', '/verifications'].map((end) => `/api/pulse/${id}${end}`),
      ...['', '/baseline', '/diff'].map((end) => `/api/workflows/${id}${end}`),
      '/api/pulse',
    ]) {
      texts.push([path, await (await app.request(path)).text()]);
    }
    const events = await new EventReader((await app.request(`/api/pulse/${id}/events`)).body!).all();
    expect(events.length).toBeGreaterThan(0);
    texts.push([`SSE of ${id}`, JSON.stringify(events)]);
  }

  const client = new Client({ name: 'assistant', version: '1' });
  const env = environment as Record<string, string>;
  await client.connect(new StdioClientTransport({ command: OWN_NODE, args: [PROGRAM, 'mcp'], env }));
  for (const sessionId of ids) {
    for (const name of [
      'pulse_status',
      'pulse_context',
      'pulse_workflow_status',
      'pulse_workflow_baseline',
    ]) {
      texts.push([`${name} ${sessionId}`, JSON.stringify(await rawCall(client, name, { sessionId }))]);
    }
  }
  texts.push(['pulse_list', JSON.stringify(await rawCall(client, 'pulse_list', {}))]);
  await client.close();
  return texts;
}

/** Four at a time. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

function leaksIn(planted: Planted, texts: readonly [string, string][]): string[] {
  return texts.flatMap(([where, text]) => planted.leaks(where, text));
}

describe('what is kept and shown of agents that print secrets', { timeout: 300_000 }, () => {
  let postgres: SharedPostgres;
  beforeAll(async () => {
    postgres = await sharePostgres();
  }, 60_000);
  afterAll(() => postgres[Symbol.asyncDispose]());

  it.runIf(IS_WHOLE)('has none of them, with SQLite', async () => {
    await using place = await openPlace({});
    const ids = await runAll(place);
    // Forty commands take long: a sample looks at some of the sessions, the rest at all.
    const looked = draw(ids, { of: 'secrets', share: 0.08 });
    const texts = [...(await shown(place, looked)), ...filesOf(place)];
    expect(texts.some(([where]) => where.endsWith('pulse.db'))).toBe(true);
    expect(texts.filter(([where]) => where.endsWith('.jsonl')).length).toBeGreaterThan(5);
    expect(leaksIn(place.planted, texts)).toEqual([]);
  });

  it.runIf(IS_MORE)('has none of them, with PostgreSQL', async () => {
    const url = await postgres.createDatabase();
    await using place = await openPlace({ PULSE_DATABASE_URL: url });
    const ids = await runAll(place);
    const texts = [...(await shown(place, ids)), ...filesOf(place), ...(await tablesOf(url))];
    expect(leaksIn(place.planted, texts)).toEqual([]);
  });
});

async function tablesOf(url: string): Promise<[string, string][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const tables = await client.query(
    "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
  );
  const texts: [string, string][] = [];
  for (const { schemaname, tablename } of tables.rows) {
    const { rows } = await client.query(`SELECT * FROM "${schemaname}"."${tablename}"`);
    texts.push([`table ${tablename}`, JSON.stringify(rows)]);
  }
  await client.end();
  expect(texts.length).toBeGreaterThan(10);
  return texts;
}
