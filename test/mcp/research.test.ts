/** The research and commander tools with the official client: over HTTP in the serving process, and inside a run. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { useScene } from '../e2e/scene.ts';
import { type HttpScene, serveHttp, TOKEN } from './http-server.ts';
import { connectInsideRun } from './inside-run.ts';
import { call, failedCall, rawCall, textOf } from './tool-calls.ts';

interface Shown {
  session: { id: string; status: string };
  research: Record<string, unknown>;
  experiments: Record<string, unknown>[];
  progress: Record<string, unknown>;
}
interface Task {
  id: string;
  status: string;
  description: string;
  comments: { body: string }[];
}

const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
const RESEARCH = {
  goal: 'Lower the cost',
  metric: { name: 'cost', direction: 'lower', verifyCommand: 'cat src/cost', target: null },
  scope: { inScope: ['src/**'] },
  guard: null,
};
const AGENT = `cat > /dev/null; echo "Idea of $PULSE_UNIT"
case "$PULSE_UNIT" in exp-1) echo 90 > src/cost;; *) echo 95 > src/cost;; esac`;

describe('research over MCP', { timeout: 90_000 }, () => {
  let scene: HttpScene;
  const clients: Client[] = [];
  beforeEach(async () => {
    scene = await serveHttp();
    const { repository } = scene.scratch;
    mkdirSync(join(repository, 'src'));
    writeFileSync(join(repository, 'src/cost'), '100\n');
    scene.scratch.git('add', '-A');
    scene.scratch.git('commit', '-q', '-m', 'chore: cost');
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await scene[Symbol.asyncDispose]();
  });

  async function connect(headers: Record<string, string> = AUTHORIZED): Promise<Client> {
    const client = new Client({ name: 'assistant', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(scene.url), { requestInit: { headers } }));
    clients.push(client);
    return client;
  }
  const startArgs = (more: object = {}) => ({
    projectPath: scene.scratch.repository,
    research: RESEARCH,
    command: AGENT,
    iterations: 2,
    ...more,
  });
  async function ended(client: Client): Promise<string> {
    const { sessionId } = await call<{ sessionId: string }>(client, 'pulse_research_start', startArgs());
    for (let i = 0; i < 5; i++) {
      const shown = await call<Shown>(client, 'pulse_research_show', { sessionId, waitSeconds: 10 });
      if (shown.session.status === 'complete') return sessionId;
    }
    throw new Error(`${sessionId} does not end`);
  }

  it('goes from the start over the report to what becomes of it', async () => {
    const client = await connect();
    const sessionId = await ended(client);
    const shown = await rawCall(client, 'pulse_research_show', { sessionId });
    expect(shown.structuredContent).toMatchObject({
      research: { baseline: 100, best: 90 },
      experiments: [{ status: 'keep' }, { status: 'discard' }],
      experimentCount: 2,
    });
    expect(textOf(shown)).toContain('#1 keep 90: Idea of exp-1');
    expect(textOf(shown).split('\n').at(-1)).toContain('pulse_research_finish');
    const { html } = await call<{ html: string }>(client, 'pulse_research_report', { sessionId });
    expect(html).toContain('<title>Autoresearch Complete: Lower the cost</title>');
    const { path } = await call<{ path: string }>(client, 'show_report', {
      sessionId,
      title: 'Ours',
      summary: 'Well.',
    });
    expect(readFileSync(path, 'utf8')).toContain('<title>Ours</title>');
    const facts = { git: '2', worktrees: true, agents: [], sandbox: false };
    await writeOnboarding(startArgs().projectPath, { at: '2026-01-01T00:00:00.000Z', found: facts });
    const finished = await call<{ phase: string; implementation: { swarm: string } }>(
      client,
      'pulse_research_finish',
      {
        sessionId,
        how: 'implement',
      },
    );
    expect(finished.phase).toBe('implementing');
    const { swarm } = finished.implementation;
    await call(client, 'pulse_swarm_stop', { sessionId: swarm });
    const { research } = await call<Shown>(client, 'pulse_research_show', { sessionId });
    expect(research.finishedBy).toBe('mcp');
  });

  it('needs the token where commands are run or a person decides, and tells every fault', async () => {
    const trusted = await connect();
    const stranger = await connect({});
    expect(await failedCall(stranger, 'pulse_research_start', startArgs())).toMatchObject({
      code: 'unauthorized',
    });
    const { sessionId } = await call<{ sessionId: string }>(trusted, 'pulse_research_start', startArgs());
    expect(await failedCall(stranger, 'pulse_research_finish', { sessionId, how: 'done' })).toMatchObject({
      code: 'unauthorized',
    });
    expect((await call<Shown>(stranger, 'pulse_research_show', { sessionId })).research.phase).toBe(
      'researching',
    );
    const wrong = startArgs({ research: { ...RESEARCH, goal: '', metric: { name: 'x' } } });
    const { code, message } = await failedCall(trusted, 'pulse_research_start', wrong);
    expect(code).toBe('invalid_input');
    for (const part of ['goal', 'direction', 'verifyCommand']) expect(message).toContain(part);
    expect((await scene.pulse.list({})).sessions).toHaveLength(1);
  });

  it('has a commander: tasks from creation to completion, comments, a mailbox', async () => {
    const client = await connect();
    const task = (args: object) => call<{ task_id: string; task: Task }>(client, 'commander_task', args);
    const created = await task({
      operation: 'create',
      description: 'Look',
      working_directory: '/x',
      group_id: 'g',
    });
    const { task_id } = created;
    expect(created.task).toMatchObject({ id: task_id, status: 'open', description: 'Look' });
    expect((await task({ operation: 'claim', task_id, agent_name: 'me' })).task.status).toBe('claimed');
    await task({ operation: 'comment:add', task_id, body: 'half', agent_name: 'me' });
    const completed = await task({ operation: 'complete', task_id, result: 'keep: done' });
    expect(completed.task).toMatchObject({ status: 'completed', comments: [{ body: 'half' }] });
    const { tasks } = await call<{ tasks: Task[] }>(client, 'commander_task', {
      operation: 'list',
      group_id: 'g',
    });
    expect(tasks.map(({ id }) => id)).toEqual([task_id]);
    expect((await task({ operation: 'get', task_id })).task).toEqual(completed.task);

    const message = { from_agent: 'me', to_agent: 'commander', body: 'Hello', message_type: 'status' };
    await call(client, 'commander_mailbox', { operation: 'send', ...message });
    const { messages } = await call<{ messages: object[] }>(client, 'commander_mailbox', {
      operation: 'list',
      to_agent: 'commander',
    });
    expect(messages).toMatchObject([message]);

    for (const [tool, args, missing] of [
      ['commander_task', { operation: 'create' }, 'description'],
      ['commander_task', { operation: 'claim', task_id }, 'agent_name'],
      ['commander_task', { operation: 'complete', task_id }, 'result'],
      ['commander_task', { operation: 'comment:add', task_id, body: 'x' }, 'agent_name'],
      ['commander_task', { operation: 'destroy' }, 'operation'],
      ['commander_mailbox', { operation: 'send', body: 'x' }, 'to_agent'],
    ] as const) {
      const error = await failedCall(client, tool, args);
      expect(error.code).toBe('invalid_input');
      expect(error.message).toContain(missing);
    }
    expect(await failedCall(client, 'commander_task', { operation: 'get', task_id: 'cmd_0' })).toMatchObject({
      code: 'not_found',
    });
  });

  it('shows what research told it, and lets nobody else complete that', async () => {
    const client = await connect();
    const sessionId = await ended(client);
    const { tasks } = await call<{ tasks: Task[] }>(client, 'commander_task', {
      operation: 'list',
      group_id: sessionId,
    });
    expect(tasks.map(({ description }) => description)).toEqual([
      'Iteration #1: Idea of exp-1',
      'Iteration #2: Idea of exp-2',
    ]);
    const complete = { operation: 'complete', task_id: tasks[0]!.id, result: 'mine' };
    expect(await failedCall(client, 'commander_task', complete)).toMatchObject({
      code: 'invalid_transition',
    });
    const { messages } = await call<{ messages: object[] }>(client, 'commander_mailbox', {
      operation: 'list',
      group_id: sessionId,
    });
    expect(messages).toMatchObject([{ message_type: 'result' }]);
  });
});

describe('inside a run', { timeout: 60_000 }, () => {
  const scene = useScene();

  it('an agent may look at the commander and not write, nor finish research', async () => {
    const client = await connectInsideRun(scene);
    try {
      expect(await call(client, 'commander_task', { operation: 'list' })).toEqual({ tasks: [] });
      expect(await call(client, 'commander_mailbox', { operation: 'list' })).toEqual({ messages: [] });
      for (const [tool, args] of [
        ['commander_task', { operation: 'create', description: 'x' }],
        [
          'commander_mailbox',
          { operation: 'send', from_agent: 'a', to_agent: 'b', body: 'c', message_type: 'd' },
        ],
        ['pulse_research_finish', { sessionId: 'ses_0', how: 'done' }],
      ] as const) {
        expect(await failedCall(client, tool, args)).toMatchObject({ code: 'inside_run' });
      }
    } finally {
      await client.close();
    }
  });
});
