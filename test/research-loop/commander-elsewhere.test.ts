/** A commander elsewhere: real MCP servers over stdio and HTTP, and ones that hang, die or refuse. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { getRequestListener } from '@hono/node-server';
import {
  createMcpHandler,
  type LegacyHttpHandler,
  legacyStatelessFallback,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { openProcessTable } from '../../src/process/process-table.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { OWN_NODE, PROGRAM } from '../e2e/scene.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { sharePostgres } from '../fakes/shared-postgres.ts';
import { createCommanderServer, type ToldCall } from './fixtures/commander.ts';
import { idea, prepareLab, research, startResearch } from './lab.ts';

const SERVER = join(import.meta.dirname, 'fixtures/commander-server.ts');
const IDEAS = { 'exp-1': idea('cheaper', 90), 'exp-2': idea('dearer', 95) };

/** A lab whose user has named a commander. */
function labWith(
  scratch: Scratch,
  commander: object,
  variables: Record<string, string> = {},
): NodeJS.ProcessEnv {
  prepareLab(scratch);
  const folder = join(scratch.path, 'config/pulse');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ research: { commander } }));
  return { ...scratch.environment, XDG_CONFIG_HOME: join(scratch.path, 'config'), ...variables };
}

function stdioServer(
  scratch: Scratch,
  mode = 'ok',
): { command: string; calls(): ToldCall[]; pids(): string[] } {
  const log = join(scratch.path, 'told');
  const lines = (path: string): string[] =>
    existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return {
    command: `'${OWN_NODE}' '${SERVER}' '${log}' ${mode}`,
    calls: () => lines(log).map((line) => JSON.parse(line) as ToldCall),
    pids: () => lines(`${log}.pids`),
  };
}

/** What two experiments tell, with the number that the server gave each task. */
function expectedCalls(scratch: Scratch, id: string, [first, second]: readonly [number, number]) {
  const created = (description: string) => ({
    operation: 'create',
    description,
    working_directory: scratch.repository,
    group_id: id,
  });
  const told = (task_id: number, { result, body }: { result: string; body: string }) => [
    { operation: 'claim', task_id, agent_name: 'autoresearch' },
    { operation: 'complete', task_id, result },
    { operation: 'comment:add', task_id, body, agent_name: 'autoresearch' },
  ];
  const commit = scratch.git('rev-parse', 'refs/pulse/kept');
  return [
    created('Iteration #1: cheaper'),
    ...told(first, {
      result: 'keep: cheaper. Metric: 100 → 90 (delta: -10)',
      body: `Status: keep\nMetric: 90 (delta: -10)\nCommit: ${commit}\nDescription: cheaper`,
    }),
    created('Iteration #2: dearer'),
    ...told(second, {
      result: 'discard: dearer. Metric: 90 → 95 (delta: +5)',
      body: 'Status: discard\nMetric: 95 (delta: +5)\nCommit: -\nDescription: dearer',
    }),
    {
      operation: 'send',
      from_agent: 'autoresearch',
      to_agent: 'commander',
      body: 'Autoresearch complete (2 iterations). Baseline: 100 → Final: 90 (delta: -10). Keeps: 1 | Discards: 1 | Crashes: 0. Best: #1 — cheaper',
      message_type: 'result',
    },
  ];
}

async function twoExperiments(pulse: Pulse, scratch: Scratch) {
  const view = await research(pulse, scratch, { iterations: 2, scripts: IDEAS });
  expect(view.session, view.session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  expect(view.experiments.map(({ status }) => status)).toEqual(['keep', 'discard']);
  scratch.git('update-ref', 'refs/pulse/kept', view.session.branch_name);
  return view;
}

function handlerWithoutHandshake(factory: McpServerFactory): LegacyHttpHandler {
  return createMcpHandler(factory, { legacy: 'reject' }).fetch;
}

function outbox(pulse: Pulse): Record<string, SQLOutputValue>[] {
  using database = new DatabaseSync(pulse.home.database, { readOnly: true }) as DatabaseSync & Disposable;
  return database.prepare('SELECT key, status, tries, note FROM commander_outbox ORDER BY seq').all();
}

function areGone(pids: readonly string[]): boolean {
  const table = openProcessTable();
  return pids.every((pid) => table.stat(Number(pid))?.isZombie ?? true);
}

describe('a commander elsewhere', () => {
  it('is told over stdio what the built-in one knows, in order and in the same words, each under its key', async () => {
    using scratch = createScratch();
    const server = stdioServer(scratch);
    await using pulse = await createPulse({ environment: labWith(scratch, { command: server.command }) });
    const { session } = await twoExperiments(pulse, scratch);
    const calls = server.calls();
    expect(calls.map(({ given }) => given)).toEqual(expectedCalls(scratch, session.id, [184, 188]));
    expect(calls.map(({ tool }) => tool)).toEqual([...Array(8).fill('commander_task'), 'commander_mailbox']);
    expect(calls.map(({ key }) => key)).toEqual([
      ...['create', 'claim', 'complete', 'comment:add'].map(
        (operation) => `${session.id}/exp-1/${operation}`,
      ),
      ...['create', 'claim', 'complete', 'comment:add'].map(
        (operation) => `${session.id}/exp-2/${operation}`,
      ),
      `${session.id}/result/send`,
    ]);
    expect(outbox(pulse).map(({ status, tries }) => [status, tries])).toEqual(
      Array(9).fill(['delivered', 1]),
    );
    expect(server.pids()).toHaveLength(1);
    expect(areGone(server.pids())).toBe(true);
  }, 60_000);

  it.each([
    ['before 2026-07-28', legacyStatelessFallback],
    ['of 2026-07-28 alone', handlerWithoutHandshake],
  ])(
    '%s is told over HTTP, with the token of the variable that the config names',
    async (_, handlerOf) => {
      const calls: ToldCall[] = [];
      const shown = new Set<string | null>();
      const answer = handlerOf(() =>
        createCommanderServer({ told: () => calls.length, onCall: (call) => void calls.push(call) }),
      );
      const http = createServer(
        getRequestListener((request) => {
          shown.add(request.headers.get('authorization'));
          return answer(request);
        }),
      );
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
      try {
        using scratch = createScratch();
        const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
        const environment = labWith(scratch, { url, tokenEnv: 'CMD_KEY' }, { CMD_KEY: 'the-secret' });
        await using pulse = await createPulse({ environment });
        const { session } = await twoExperiments(pulse, scratch);
        expect(calls.map(({ given }) => given)).toEqual(expectedCalls(scratch, session.id, [184, 188]));
        expect(calls.at(-1)).toMatchObject({ tool: 'commander_mailbox', key: `${session.id}/result/send` });
        expect([...shown]).toEqual(['Bearer the-secret']);
        expect(JSON.stringify(outbox(pulse))).not.toContain('the-secret');
      } finally {
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      }
    },
    60_000,
  );

  it('may be another Pulse: its own two tools are understood', async () => {
    using scratch = createScratch();
    using there = createScratch();
    const command = `PULSE_HOME='${there.home}' '${OWN_NODE}' '${PROGRAM}' mcp`;
    await using pulse = await createPulse({ environment: labWith(scratch, { command }) });
    const { session } = await twoExperiments(pulse, scratch);
    expect(outbox(pulse).map(({ status, note }) => [status, note])).toEqual(
      Array(9).fill(['delivered', null]),
    );
    await using other = await createPulse({ environment: there.environment });
    const tasks = await other.commander.listTasks({ group_id: session.id });
    expect(tasks.map(({ status, result, comments }) => [status, result, comments.length])).toEqual([
      ['completed', 'keep: cheaper. Metric: 100 → 90 (delta: -10)', 1],
      ['completed', 'discard: dearer. Metric: 90 → 95 (delta: +5)', 1],
    ]);
    expect(await other.commander.listMessages({})).toMatchObject([{ message_type: 'result' }]);
  }, 90_000);

  it.each(['SQLite', 'PostgreSQL'])(
    'is told by several sessions at once as by one: one group, each task from create to comment (%s)',
    async (store) => {
      using scratch = createScratch();
      const server = stdioServer(scratch);
      const environment = labWith(scratch, { command: server.command });
      await using postgres = store === 'PostgreSQL' ? await sharePostgres() : null;
      if (postgres) environment.PULSE_DATABASE_URL = await postgres.createDatabase();
      await using pulse = await createPulse({ environment });
      const numbers = [1, 2, 3, 4, 5];
      const scripts = numbers.map((number) => [`exp-${number}`, idea(`idea ${number}`, 100 + number)]);
      const { session } = await research(pulse, scratch, {
        iterations: 5,
        parallel: 3,
        scripts: Object.fromEntries(scripts),
      });
      expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
      const tasks = await pulse.commander.listTasks({ group_id: session.id });
      expect(tasks.map(({ description }) => description).toSorted()).toEqual(
        numbers.map((number) => `Iteration #${number}: idea ${number}`),
      );
      expect(tasks.map(({ status, comments }) => [status, comments.length])).toEqual(
        Array(5).fill(['completed', 1]),
      );
      const types = (await pulse.commander.listMessages({ group_id: session.id })).map(
        (sent) => sent.message_type,
      );
      expect(types).toEqual(['status', 'result']);

      const keys = server.calls().map(({ key }) => String(key).slice(session.id.length + 1));
      expect(keys).toHaveLength(22);
      for (const number of numbers) {
        const own = keys.filter((key) => key.startsWith(`exp-${number}/`)).map((key) => key.split('/')[1]);
        expect(own).toEqual(['create', 'claim', 'complete', 'comment:add']);
      }
      expect(keys.at(-1)).toBe('result/send');
      expect(areGone(server.pids())).toBe(true);
    },
    90_000,
  );

  it('that dies at every call is started again a few times, then left alone', async () => {
    using scratch = createScratch();
    const server = stdioServer(scratch, 'die');
    await using pulse = await createPulse({ environment: labWith(scratch, { command: server.command }) });
    const { session } = await twoExperiments(pulse, scratch);
    expect(await pulse.commander.listTasks({ group_id: session.id })).toHaveLength(2);
    expect(outbox(pulse).every(({ status }) => status === 'skipped')).toBe(true);
    expect(
      server.calls().filter(({ given }) => given.operation !== 'create' && given.operation !== 'send'),
    ).toEqual([]);
    expect(server.calls().length).toBeLessThanOrEqual(9);
    expect(areGone(server.pids())).toBe(true);
  }, 60_000);

  it('that refuses is asked once for each call, and not about tasks that it does not have', async () => {
    using scratch = createScratch();
    const server = stdioServer(scratch, 'refuse');
    await using pulse = await createPulse({ environment: labWith(scratch, { command: server.command }) });
    await twoExperiments(pulse, scratch);
    expect(server.calls().map(({ given }) => given.operation)).toEqual(['create', 'create', 'send']);
    const rows = outbox(pulse).map(({ key, status, note }) => [String(key).split('/').at(-1), status, note]);
    expect(rows.slice(0, 2)).toEqual([
      ['create', 'refused', expect.stringContaining('not today')],
      ['claim', 'skipped', 'no task there'],
    ]);
  }, 60_000);

  it.each(['hang', 'hang-calls'])(
    'that answers nothing (%s) holds nothing up, and nothing of it is left',
    async (mode) => {
      using scratch = createScratch();
      const server = stdioServer(scratch, mode);
      await using pulse = await createPulse({ environment: labWith(scratch, { command: server.command }) });
      const { session } = await twoExperiments(pulse, scratch);
      const loopMs = Date.parse(session.ended_at!) - Date.parse(session.started_at!);
      // A loop that waited would have waited nine times as long as one call may take.
      expect(loopMs).toBeLessThan(45_000);
      expect(outbox(pulse).map(({ status }) => status)).toEqual(Array(9).fill('skipped'));
      expect(areGone(server.pids())).toBe(true);
    },
    60_000,
  );

  it('that answers nothing does not keep anybody waiting who aborts', async () => {
    using scratch = createScratch();
    const server = stdioServer(scratch, 'hang-calls');
    await using pulse = await createPulse({ environment: labWith(scratch, { command: server.command }) });
    const id = await startResearch(pulse, scratch, { scripts: { 'exp-1': `${idea('slow', 90)}\nsleep 60` } });
    const run = pulse.run(id, new AbortController().signal);
    for await (const _ of pulse.follow(id, { onQuiet: async () => server.calls().length > 0 }));
    const began = performance.now();
    expect((await pulse.abort(id, { actor: 'test' })).session).toMatchObject({ status: 'aborted' });
    await run;
    expect(performance.now() - began).toBeLessThan(9_000);
    expect(outbox(pulse).map(({ status }) => status)).toEqual(Array(4).fill('skipped'));
    expect(areGone(server.pids())).toBe(true);
  }, 60_000);

  it('that answers is told that an aborted experiment is over', async () => {
    using scratch = createScratch();
    const server = stdioServer(scratch);
    await using pulse = await createPulse({ environment: labWith(scratch, { command: server.command }) });
    const id = await startResearch(pulse, scratch, { scripts: { 'exp-1': `${idea('slow', 90)}\nsleep 60` } });
    const run = pulse.run(id, new AbortController().signal);
    for await (const _ of pulse.follow(id, { onQuiet: async () => server.calls().length === 2 }));
    await pulse.abort(id, { actor: 'test' });
    await run;
    expect(server.calls().map(({ given }) => given.operation)).toEqual([
      'create',
      'claim',
      'complete',
      'comment:add',
    ]);
    expect(areGone(server.pids())).toBe(true);
  }, 60_000);

  it.each([{ command: 'exit 7' }, { command: '/nowhere/at-all' }, { url: 'http://127.0.0.1:1/mcp' }])(
    'that is not there (%j) is passed over',
    async (commander) => {
      using scratch = createScratch();
      await using pulse = await createPulse({ environment: labWith(scratch, commander) });
      await twoExperiments(pulse, scratch);
      expect(outbox(pulse).map(({ status }) => status)).toEqual(Array(9).fill('skipped'));
    },
    60_000,
  );
});

describe('the config', () => {
  it.each([
    { command: '' },
    { url: 'file:///etc' },
    { url: 'nonsense' },
    { command: 'x', url: 'http://x' },
    {},
  ])('refuses %j as a commander, and nothing is created', async (commander) => {
    using scratch = createScratch();
    await using pulse = await createPulse({ environment: labWith(scratch, commander) });
    const start = research(pulse, scratch, { iterations: 1, scripts: {} });
    await expect(start).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('research.commander'),
    });
    expect((await pulse.list({})).sessions).toEqual([]);
  });
});
