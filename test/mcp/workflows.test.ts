/** The workflow tools with the official client: over HTTP in the serving process, over stdio with the real program. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OWN_NODE, PROGRAM, useScene } from '../e2e/scene.ts';
import { type HttpScene, serveHttp, TOKEN } from './http-server.ts';
import { call, failedCall, rawCall, textOf } from './tool-calls.ts';

interface Shown {
  session: { id: string; status: string; stop_reason: string | null; branch_name: string };
  workflow: Record<string, unknown>;
  pulses: Record<string, unknown>[];
}

const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
const PLAN = {
  title: 'Greet people',
  base: null,
  pulses: [{ id: 'one', title: 'Hello', description: 'Say hello.', dependsOn: null }],
};
const done = (summary: string, file: string) =>
  `pulse tool pulse_done '${JSON.stringify({ summary, filesChanged: [file] })}'`;
const AGENT = `cat > /dev/null; case "$PULSE_UNIT" in
one) echo hello > hello.txt; ${done('feat: say hello', 'hello.txt')};;
review-1) echo more > more.txt; ${done('fix: say more', 'more.txt')};; esac`;
const EXTENDS = `cat > /dev/null; [ -f half ] && { ${done('feat: half', 'half')}; exit; }; echo half > half
pulse tool request_extension '{"reason": "long", "completed": ["half"], "remaining": ["rest"]}'`;

async function atStop(client: Client, sessionId: string): Promise<Shown> {
  for (let i = 0; i < 5; i++) {
    const shown = await call<Shown>(client, 'pulse_workflow_status', { sessionId, waitSeconds: 10 });
    if (!['pending', 'running'].includes(shown.session.status)) return shown;
  }
  throw new Error(`${sessionId} does not stop`);
}

describe('workflows over MCP', { timeout: 90_000 }, () => {
  let scene: HttpScene;
  const clients: Client[] = [];
  beforeEach(async () => {
    scene = await serveHttp();
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
  const start = (client: Client, more: object = {}) =>
    call<{ sessionId: string }>(client, 'pulse_workflow_start', {
      projectPath: scene.scratch.repository,
      plan: PLAN,
      command: AGENT,
      ...more,
    });
  const next = async (client: Client, sessionId: string) =>
    textOf(await rawCall(client, 'pulse_workflow_status', { sessionId }))
      .split('\n')
      .at(-1);

  it('goes from a plan over approval, a rejected review and the next one to the merge', async () => {
    const client = await connect();
    const { sessionId } = await start(client);
    expect((await atStop(client, sessionId)).pulses).toMatchObject([{ status: 'proposed' }]);
    expect(await next(client, sessionId)).toContain('pulse_workflow_approve');
    expect(textOf(await rawCall(client, 'pulse_status', { sessionId }))).toContain('pulse_workflow_status');

    await call(client, 'pulse_workflow_approve', { sessionId, plan: null });
    const shown = await atStop(client, sessionId);
    expect(shown.pulses).toMatchObject([{ plannedPulseId: 'one', status: 'succeeded', rejections: 0 }]);
    expect(shown.workflow).toMatchObject({ approvedBy: 'mcp', planVersion: 1 });
    expect(shown.workflow).not.toHaveProperty('plan');
    expect(await next(client, sessionId)).toContain('pulse_workflow_review');
    expect(await call(client, 'pulse_workflow_baseline', { sessionId })).toEqual({
      baseline: [],
      issueCount: 0,
    });
    await call(client, 'pulse_workflow_review', { sessionId, reject: 'Say more.' });
    await atStop(client, sessionId);
    const merged = await call<{ merged: object }>(client, 'pulse_workflow_review', {
      sessionId,
      approve: true,
      merge: 'squash',
    });
    expect(merged.merged).toMatchObject({ base: 'main' });
    expect((await atStop(client, sessionId)).session.status).toBe('complete');
    expect(scene.scratch.git('log', '--format=%s', 'main')).toBe('Greet people\nfirst');
    expect(scene.scratch.git('ls-tree', '--name-only', 'main')).toBe('README.md\nhello.txt\nmore.txt');
  });

  it('begins with a goal too: an agent drafts the plan, which waits for approval', async () => {
    const client = await connect();
    const drafts = `cat > /dev/null; [ "$PULSE_UNIT" = plan ] && pulse tool propose_plan '${JSON.stringify({
      plan: { title: 'Drafted', pulses: [{ id: 'one', title: 'Hello', description: 'Say hello.' }] },
    })}'`;
    const { sessionId } = await start(client, { plan: null, goal: 'Greet people', command: drafts });
    const shown = await atStop(client, sessionId);
    expect(shown.workflow).toMatchObject({ title: 'Drafted', approvedAt: null });
    expect(shown.pulses).toMatchObject([{ plannedPulseId: 'one', status: 'proposed' }]);
    for (const input of [{ plan: PLAN, goal: 'both' }, {}]) {
      const given = { projectPath: scene.scratch.repository, ...input };
      expect((await failedCall(client, 'pulse_workflow_start', given)).code).toBe('invalid_input');
    }
  });

  it('gives a pulse another run, records the baseline again, and stops', async () => {
    const client = await connect();
    const { sessionId } = await start(client, { command: EXTENDS, extensions: 'ask', approve: true });
    expect((await atStop(client, sessionId)).session.stop_reason).toBe('extension_requested');
    expect(await next(client, sessionId)).toContain('pulse_workflow_extension');
    await call(client, 'pulse_workflow_extension', { sessionId, approve: true });
    expect((await atStop(client, sessionId)).pulses).toMatchObject([{ status: 'succeeded', runs: 2 }]);
    await call(client, 'pulse_workflow_baseline', { sessionId, refresh: true });
    expect((await atStop(client, sessionId)).session.stop_reason).toBe('approval_required');

    const long = await start(client, { command: 'cat > /dev/null; sleep 60', approve: true });
    await call(client, 'pulse_workflow_stop', { sessionId: long.sessionId });
    expect((await atStop(client, long.sessionId)).session.status).toBe('paused');
  });

  it('leaves starting and what people decide to whoever shows the token', async () => {
    const client = await connect({});
    const plain = { projectPath: scene.scratch.repository, plan: PLAN, agent: 'demo' };
    expect((await failedCall(client, 'pulse_workflow_start', plain)).code).toBe('unauthorized');
    expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
    const { sessionId } = await call<{ sessionId: string }>(await connect(), 'pulse_workflow_start', plain);
    const decisions: [string, object][] = [
      ['approve', {}],
      ['extension', { approve: true }],
      ['review', { approve: true }],
      ['baseline', { refresh: true }],
    ];
    for (const [name, more] of decisions) {
      const error = await failedCall(client, `pulse_workflow_${name}`, { sessionId, ...more });
      expect([name, error.code]).toEqual([name, 'unauthorized']);
    }
    expect((await atStop(client, sessionId)).workflow).toMatchObject({ approvedAt: null });
  });

  it('refuses a bad plan with every fault, and creates nothing', async () => {
    const client = await connect();
    const plan = { title: '', pulses: [{ id: 'A', title: 't', description: 'd' }] };
    const error = await failedCall(client, 'pulse_workflow_start', {
      projectPath: scene.scratch.repository,
      plan,
    });
    expect(error.code).toBe('invalid_input');
    for (const text of ['plan.title', 'plan.pulses.0.id']) expect(error.message).toContain(text);
    const both = { sessionId: 'ses_0', approve: true, reject: 'x' };
    expect((await failedCall(client, 'pulse_workflow_review', both)).code).toBe('invalid_input');
    expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
  });
});

describe('workflows over pulse mcp', { timeout: 90_000 }, () => {
  const scene = useScene();

  it('lets no agent inside a run decide for a person', async () => {
    const client = new Client({ name: 'agent', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: OWN_NODE,
        args: [PROGRAM, 'mcp'],
        cwd: scene.directory,
        env: {
          PATH: process.env.PATH!,
          HOME: scene.directory,
          PULSE_HOME: scene.home,
          PULSE_RUN_ID: 'run_1',
        },
      }),
    );
    const sessionId = 'ses_00000000';
    const start = { projectPath: scene.repository, plan: PLAN, agent: 'demo', approve: true };
    const decisions: [string, object][] = [
      ['start', start],
      ['approve', { sessionId }],
      ['extension', { sessionId, approve: true }],
      ['review', { sessionId, approve: true }],
      ['baseline', { sessionId, refresh: true }],
    ];
    for (const [name, args] of decisions) {
      expect([name, (await failedCall(client, `pulse_workflow_${name}`, args)).code]).toEqual([
        name,
        'inside_run',
      ]);
    }
    expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
    await client.close();
  });
});
