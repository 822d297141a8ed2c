/** `sandbox` in the start tools: the same values and the same refusals as `--sandbox`, and who may lift it. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useScene } from '../e2e/scene.ts';
import { pathWithBwrap } from '../fakes/programs.ts';
import { type HttpScene, serveHttp, TOKEN } from './http-server.ts';
import { connectInsideRun } from './inside-run.ts';
import { call, failedCall, rawCall, textOf } from './tool-calls.ts';

const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
const STARTS: [string, object][] = [
  ['pulse_start', { goal: 'Say hello' }],
  [
    'pulse_workflow_start',
    { plan: { title: 'Greet', pulses: [{ id: 'one', title: 'Hello', description: 'Say hello.' }] } },
  ],
  [
    'pulse_research_start',
    {
      research: {
        goal: 'Lower the cost',
        metric: { name: 'cost', direction: 'lower', verifyCommand: 'cat README.md' },
        scope: { inScope: ['src/**'] },
      },
    },
  ],
];
const ENCLOSED = 'note: the agent and its checks run in a sandbox; the network is open to them';
const WITHOUT = 'note: no sandbox: bubblewrap is not installed.';

describe('a sandbox asked for over HTTP', () => {
  let scene: HttpScene;
  const clients: Client[] = [];
  beforeEach(async () => {
    scene = await serveHttp({ runSession: () => undefined });
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

  /** `works`: whether what stands in for bubblewrap can make a sandbox. */
  function machineWhere({ works }: { works: boolean }): void {
    scene.scratch.environment.PATH = pathWithBwrap(scene.scratch.path, works ? 'exit 0' : null);
  }
  const inputOf = (more: object) => ({ projectPath: scene.scratch.repository, agent: 'demo', ...more });

  it.each(STARTS)('%s starts enclosed, and says so', async (tool, input) => {
    machineWhere({ works: true });
    const result = await rawCall(await connect(), tool, inputOf({ ...input, sandbox: 'on' }));
    expect(textOf(result).split('\n')).toContain(ENCLOSED);
    expect(result.structuredContent).toMatchObject({ notes: { sandbox: { wish: { mode: 'on' } } } });
  });

  it.each(STARTS)('%s is refused where there is none, and creates nothing', async (tool, input) => {
    machineWhere({ works: false });
    const client = await connect();
    expect(await failedCall(client, tool, inputOf({ ...input, sandbox: 'on' }))).toMatchObject({
      code: 'sandbox_unavailable',
      message: 'The sandbox cannot be used: bubblewrap is not installed.',
      hint: expect.stringMatching(/apt install bubblewrap.* Or start without it: sandbox off$/),
    });
    expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
    expect(scene.scratch.git('branch', '--format=%(refname)')).toBe('refs/heads/main');
  });

  it.each(STARTS)('%s with auto goes without where there is none, and says so', async (tool, input) => {
    machineWhere({ works: false });
    scene.scratch.environment.PULSE_SANDBOX = 'on';
    const result = await rawCall(await connect(), tool, inputOf({ ...input, sandbox: 'auto' }));
    expect(textOf(result).split('\n')).toContain(WITHOUT);
  });

  it.each(STARTS)('%s goes without only for whoever shows the token', async (tool, input) => {
    machineWhere({ works: true });
    scene.scratch.environment.PULSE_SANDBOX = 'on';
    const client = await connect({});
    for (const sandbox of ['off', 'auto']) {
      const error = await failedCall(client, tool, inputOf({ ...input, sandbox }));
      expect(error).toMatchObject({ code: 'unauthorized' });
    }
    expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
    const off = inputOf({ ...input, sandbox: 'off' });
    expect(textOf(await rawCall(await connect(), tool, off))).not.toContain(ENCLOSED);
  });

  it('knows three words', async () => {
    machineWhere({ works: true });
    const client = await connect();
    await call(client, 'pulse_start', inputOf({ goal: 'x', sandbox: 'on' }));
    for (const sandbox of [true, 'ON', '']) {
      const error = await failedCall(client, 'pulse_start', inputOf({ goal: 'x', sandbox }));
      expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('sandbox') });
    }
  });
});

describe('inside a run', { timeout: 60_000 }, () => {
  const scene = useScene();

  it('no agent starts a session, least of all one that is trusted, wider or without a limit', async () => {
    const client = await connectInsideRun(scene);
    try {
      for (const [tool, input] of STARTS) {
        for (const more of [{}, { trust: true }, { budgetUsd: 'none' }]) {
          const given = { projectPath: scene.repository, agent: 'demo', ...input, ...more };
          expect(await failedCall(client, tool, given)).toMatchObject({ code: 'inside_run' });
        }
      }
      expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
    } finally {
      await client.close();
    }
  });

  it('no agent starts a session that may go without its sandbox', async () => {
    const client = await connectInsideRun(scene);
    try {
      for (const [tool, input] of STARTS) {
        for (const sandbox of ['off', 'auto']) {
          const given = { projectPath: scene.repository, agent: 'demo', ...input, sandbox };
          expect(await failedCall(client, tool, given)).toMatchObject({ code: 'inside_run' });
        }
      }
      expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
    } finally {
      await client.close();
    }
  });
});
