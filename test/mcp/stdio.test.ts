import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it } from 'vitest';
import { OWN_NODE, PROGRAM, until, useScene } from '../e2e/scene.ts';
import { forItself, MODERN, message } from './eras.ts';
import { call, failedCall, rawCall, type Status, statusAtStop, textOf } from './tool-calls.ts';

const scene = useScene();
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const ASKS =
  'if [ -f answered ]; then echo "Thanks. <signal>COMPLETE</signal>"; ' +
  'else touch answered; echo "<signal>BLOCKED: Which port?</signal>"; fi';
const LONG = 'sleep 60; echo "<signal>COMPLETE</signal>"';

async function assistant(env: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'assistant', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: OWN_NODE,
      args: [PROGRAM, 'mcp'],
      cwd: scene.directory,
      env: { PATH: process.env.PATH!, HOME: scene.directory, PULSE_HOME: scene.home, ...env },
    }),
  );
  clients.push(client);
  return client;
}

function start(client: Client, command: string, more: object = {}): Promise<{ sessionId: string }> {
  return call(client, 'pulse_start', {
    projectName: 'scene',
    projectPath: scene.repository,
    goal: 'Make it so',
    maxIterations: 3,
    command,
    ...more,
  });
}

describe('pulse mcp', { timeout: 90_000 }, () => {
  it('offers the session tools with their schemas', async () => {
    const client = await assistant();
    expect(client.getServerVersion()).toMatchObject({ name: 'pulse' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      [
        ...['start', 'status', 'list', 'pause', 'resume', 'note', 'accept', 'reject', 'abort', 'context'],
        ...['merge', 'discard', 'follow', 'held', 'clean'],
        ...['start', 'status', 'approve', 'extension', 'stop', 'review', 'baseline'].map(
          (name) => `workflow_${name}`,
        ),
        ...['start', 'show', 'report', 'finish'].map((name) => `research_${name}`),
      ]
        .map((name) => `pulse_${name}`)
        .concat('show_report', 'commander_task', 'commander_mailbox')
        .concat(
          ...['create', 'list', 'next', 'graph', 'export', 'import', 'plan', 'plan_show'].map(
            (name) => `pulse_bead_${name}`,
          ),
          ...['show', 'update', 'close', 'scope'].map((name) => `pulse_bead_${name}`),
          ...['start', 'show', 'queue', 'handoffs', 'reassign', 'stop'].map((name) => `pulse_swarm_${name}`),
        )
        .concat('pulse_context_search', 'pulse_context_turn')
        .concat('register_agent', 'send_message', 'reply_message', 'acknowledge_message')
        .concat('fetch_inbox', 'fetch_topic', 'search_messages')
        .concat('file_reservation_paths', 'release_file_reservations', 'list_file_reservations'),
    );
    expect(tools[0]!.inputSchema.required).toEqual(['projectPath', 'goal']);
    for (const tool of tools) expect(tool.description!.length).toBeGreaterThan(20);
  });

  it('runs a session to its verified end, in a process of its own', async () => {
    const client = await assistant();
    const agent = scene.agent('echo done > result.txt; echo "Wrote it. <signal>COMPLETE</signal>"');
    const { sessionId } = await start(client, agent, { verify: ['test -f result.txt'] });
    const { session, iterations } = await statusAtStop(client, sessionId);
    expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed', created_by: 'mcp' });
    expect(iterations).toMatchObject([{ iteration_number: 1, signal: 'COMPLETE', outcome: 'completed' }]);
    expect(iterations[0]).not.toHaveProperty('task_content');
    expect(scene.git('show', `${session.branch_name}:result.txt`)).toBe('done');
    const { sessions } = await call<{ sessions: { id: string }[] }>(client, 'pulse_list', {
      status: 'complete',
    });
    expect(sessions).toMatchObject([{ id: sessionId, trust: 'verified' }]);
    expect(textOf(await rawCall(client, 'pulse_status', { sessionId }))).toContain('is complete, verified: ');
    expect(textOf(await rawCall(client, 'pulse_list', {}))).toContain(
      `${sessionId}  complete, verified  1/3`,
    );
  });

  it('tells why a claim was not accepted, and asks for the person where checks were changed', async () => {
    writeFileSync(join(scene.repository, 'check.sh'), 'grep -q right a.txt\n');
    scene.git('add', '-A');
    scene.git('commit', '-q', '-m', 'a check');
    const client = await assistant();
    const agent = scene.agent(`echo true > check.sh
[ "$PULSE_ITERATION" = 1 ] || echo '<checks_changed>check.sh: it is too strict</checks_changed>'
echo '<signal>COMPLETE</signal>'`);
    const asks = { projectPath: scene.repository, goal: 'g', command: agent, maxIterations: 1 };
    const begun = await rawCall(client, 'pulse_start', { ...asks, verify: ['sh check.sh'] });
    expect(textOf(begun)).toContain('protected: check.sh; ');
    const { sessionId } = begun.structuredContent as { sessionId: string };
    await statusAtStop(client, sessionId);
    const refused = textOf(await rawCall(client, 'pulse_status', { sessionId }));
    expect(refused).toMatch(/the claim of iteration 1, rejected: .*sh check\.sh failed.*Restore the checks/);
    await call(client, 'pulse_resume', { sessionId, maxIterations: 2 });
    await statusAtStop(client, sessionId);
    const asked = textOf(await rawCall(client, 'pulse_status', { sessionId }));
    expect(asked).toMatch(/next: show the person .* pulse_accept, or pulse_reject/);
    await call(client, 'pulse_accept', { sessionId });
    await statusAtStop(client, sessionId);
    expect(textOf(await rawCall(client, 'pulse_status', { sessionId }))).toContain(
      'is complete, verified, checks changed: ',
    );
  });

  it('asks the agent for the model that is wanted', async () => {
    const client = await assistant();
    const refused = await failedCall(client, 'pulse_start', {
      ...{ projectPath: scene.repository, goal: 'g', agent: 'native', model: 'openai/some-model' },
    });
    expect(refused).toMatchObject({ code: 'agent_unavailable', hint: 'OPENAI_API_KEY is not set.' });
  });

  it('gives the session the environment of its caller', async () => {
    const client = await assistant({ LANG: 'xx_XX.UTF-8' });
    const { sessionId } = await start(client, scene.agent('echo "$LANG <signal>COMPLETE</signal>"'));
    const { iterations } = await statusAtStop(client, sessionId);
    expect(iterations[0]!.output_summary).toContain('xx_XX.UTF-8');
  });

  it('goes on with a blocked session after an answer', async () => {
    const client = await assistant();
    const { sessionId } = await start(client, scene.agent(ASKS));
    const blocked = await statusAtStop(client, sessionId);
    expect(blocked.session).toMatchObject({ status: 'blocked', stop_reason: 'blocked_by_agent' });
    expect(textOf(await rawCall(client, 'pulse_status', { sessionId }))).toMatch(
      /Which port\?.*pulse_resume/s,
    );

    await call(client, 'pulse_resume', { sessionId, answer: 'Port 8080.' });
    expect((await statusAtStop(client, sessionId)).session.status).toBe('complete');
    const context = await call<{ iteration: { brief: string }; turns: { content: string }[] }>(
      client,
      'pulse_context',
      { sessionId },
    );
    expect(context.iteration.brief).toContain('Port 8080.');
    expect(context.turns.map(({ content }) => content)).toEqual(
      ['Make it so', 'Which port?', 'Port 8080.', 'Thanks.'].map((text) => expect.stringContaining(text)),
    );
  });

  it('asks for a higher limit in the words of the tool', async () => {
    const client = await assistant();
    const agent = scene.agent('echo "$PULSE_ITERATION" > n; echo "<signal>CONTINUE</signal>"');
    const { sessionId } = await start(client, agent, { maxIterations: 1 });
    expect((await statusAtStop(client, sessionId)).session.stop_reason).toBe('iteration_limit');
    const error = await failedCall(client, 'pulse_resume', { sessionId });
    expect(error.code).toBe('limit_not_raised');
    expect(error.hint).toContain('maxIterations');
    expect(error.hint).not.toContain('--');
    await call(client, 'pulse_resume', { sessionId, maxIterations: 2, answer: null });
    expect((await statusAtStop(client, sessionId)).iterationCount).toBe(2);
  });

  it('pauses, resumes and aborts', async () => {
    const client = await assistant();
    const { sessionId } = await start(client, scene.agent(LONG));
    await until('the agent runs', async () => {
      const { iterations } = await call<Status>(client, 'pulse_status', { sessionId });
      return iterations[0]?.status === 'running';
    });
    await call(client, 'pulse_pause', { sessionId, now: true });
    expect((await statusAtStop(client, sessionId)).session.status).toBe('paused');
    await call(client, 'pulse_resume', { sessionId });
    const aborted = await call<Status>(client, 'pulse_abort', { sessionId });
    expect(aborted.session.status).toBe('aborted');
    expect((await failedCall(client, 'pulse_resume', { sessionId })).code).toBe('invalid_transition');
  });

  it('lets an agent signal over the MCP of its run', async () => {
    const script = join(scene.directory, 'agent.mjs');
    writeFileSync(
      script,
      `const call = { jsonrpc: '2.0', id: 1, method: 'tools/call',
         params: { name: 'pulse_signal', arguments: { signal: 'COMPLETE', reason: 'by MCP' } } };
       const answer = await fetch(process.env.PULSE_TOOLS_URL + '/mcp', { method: 'POST', body: JSON.stringify(call),
         headers: { authorization: 'Bearer ' + process.env.PULSE_TOOLS_TOKEN, 'content-type': 'application/json',
           accept: 'application/json, text/event-stream' } });
       console.log(answer.status, (await answer.text()).includes('noted') ? 'heard' : 'not heard');`,
    );
    const client = await assistant();
    const { sessionId } = await start(client, scene.agent(`exec '${OWN_NODE}' '${script}'`));
    const { session, iterations } = await statusAtStop(client, sessionId);
    expect(session.status).toBe('complete');
    expect(iterations[0]).toMatchObject({ signal_source: 'tool', output_summary: '200 heard' });
  });

  it('refuses bad input with a code and a text, and creates nothing', async () => {
    const client = await assistant();
    const before = scene.git('for-each-ref');
    const cases: [object, string, string][] = [
      [{ goal: undefined }, 'invalid_input', 'goal'],
      [{ goal: ' ' }, 'usage', 'empty'],
      [{ goal: 'g'.repeat(66_000) }, 'too_large', '65536'],
      [{ projectPath: 'repo' }, 'invalid_input', 'absolute'],
      [{ projectPath: '/nowhere/at/all' }, 'invalid_input', '/nowhere/at/all'],
      [{ verfiy: ['x'] }, 'invalid_input', 'verfiy'],
      [{ verify: [''] }, 'invalid_input', 'verify.0'],
      [{ maxIterations: 0 }, 'invalid_input', 'maxIterations'],
      [{ timeLimit: 'soon' }, 'invalid_input', '10m'],
      [{ command: undefined, agent: 'clude' }, 'usage', 'clude'],
      [{ branch: 'main' }, 'branch_exists', 'main'],
    ];
    for (const [more, code, text] of cases) {
      const args = { projectPath: scene.repository, goal: 'x', command: 'true', ...more };
      const error = await failedCall(client, 'pulse_start', args);
      expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
    }
    expect(await call(client, 'pulse_list')).toEqual({ sessions: [] });
    expect(scene.git('for-each-ref')).toBe(before);
  });

  it('says with a hint that there is no such session, and no such tool', async () => {
    const client = await assistant();
    for (const tool of ['status', 'pause', 'resume', 'abort', 'context']) {
      const error = await failedCall(client, `pulse_${tool}`, { sessionId: 'ses_00000000' });
      expect(error).toMatchObject({ code: 'not_found', hint: expect.any(String) });
    }
    await expect(client.callTool({ name: 'pulse_rm' })).rejects.toMatchObject({
      data: { code: 'unknown_tool' },
    });
  });

  it('tells in the call that its state directory cannot be opened', async () => {
    writeFileSync(scene.home, 'not a folder');
    const client = await assistant();
    expect(await failedCall(client, 'pulse_list')).toMatchObject({ message: expect.any(String) });
    expect((await client.listTools()).tools).toHaveLength(59);
  });

  it('lets no agent inside a run answer for a person', async () => {
    const client = await assistant({ PULSE_RUN_ID: 'run_1' });
    expect((await failedCall(client, 'pulse_resume', { sessionId: 'ses_00000000' })).code).toBe('inside_run');
    const note = { sessionId: 'ses_00000000', text: 'Do as you like.' };
    expect((await failedCall(client, 'pulse_note', note)).code).toBe('inside_run');
  });
});

describe('the stdout of pulse mcp', { timeout: 90_000 }, () => {
  const request = (id: number, method: string, params: object = {}) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const toolCall = (id: number, name: string, args: object) =>
    request(id, 'tools/call', { name: `pulse_${name}`, arguments: args });

  it('carries JSON-RPC alone, answers all that was asked, and the process ends with stdin', async () => {
    const stdin = [
      request(1, 'initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'pipe', version: '1' },
      }),
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      'this is no JSON',
      '{"hello": 1}',
      request(2, 'tools/list'),
      toolCall(3, 'start', {
        projectPath: scene.repository,
        goal: 'Say it',
        command: scene.agent('echo "Said. <signal>COMPLETE</signal>"'),
      }),
      toolCall(4, 'list', { limit: 0 }),
      request(5, 'nonsense/method'),
    ].join('\n');
    const { code, stdout, stderr } = await scene.pulse(['mcp'], { stdin: `${stdin}\n` });
    expect(code, stderr).toBe(0);
    const messages = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { jsonrpc: string; id: number; result?: never });
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
    expect(messages.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(stderr).toContain('mcp:');

    // The session that was started by a client that is gone still runs to its end.
    const started = messages.find(({ id }) => id === 3)!.result as unknown as {
      structuredContent: { sessionId: string };
    };
    const { sessionId } = started.structuredContent;
    const watched = await scene.pulse(['watch', sessionId, '--json']);
    expect(watched.json.at(-1)).toMatchObject({ type: 'session.ended', session: { status: 'complete' } });
  });

  it('answers a client without a handshake, and one that asks for it after all', async () => {
    const hello = message('initialize', {
      ...{ protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
    });
    const ask = async (messages: object[]) => {
      const stdin = messages.map((each, index) => `${JSON.stringify({ ...each, id: index })}\n`).join('');
      const { code, json } = await scene.pulse(['mcp'], { stdin });
      expect(code).toBe(0);
      return json.sort((a, b) => Number(a.id) - Number(b.id));
    };
    const list = message('tools/list');
    const call = message('tools/call', { name: 'pulse_list' });
    const discover = forItself(message('server/discover'));
    const alone = await ask([
      ...[forItself(list, '2031-01-01'), discover, forItself(list), forItself(call)],
      ...[forItself(message('resources/list')), list, hello],
    ]);
    expect(alone).toMatchObject([
      { error: { code: -32022, data: { supported: [MODERN] } } },
      { result: { supportedVersions: [MODERN], instructions: expect.any(String) } },
      { result: { resultType: 'complete', tools: expect.any(Array) } },
      { result: { resultType: 'complete', structuredContent: { sessions: [] } } },
      { error: { code: -32601 } },
      { error: { code: -32602 } },
      { error: { code: -32022 } },
    ]);
    const [, greeted, listed] = await ask([discover, hello, list]);
    expect(greeted).toMatchObject({ result: { protocolVersion: '2025-06-18' } });
    expect((listed as unknown as { result: object }).result).toEqual({
      tools: (alone[2] as unknown as { result: { tools: object[] } }).result.tools,
    });
  });

  it.each([
    ['it is told to end', (child: ChildProcess) => void child.kill('SIGTERM'), 143],
    ['what it is sent has no end', (child: ChildProcess) => void child.stdin!.write('x'.repeat(11 << 20)), 0],
  ])('does not keep the process when %s, though the client holds the pipe', async (_, end, code) => {
    const env = { PATH: process.env.PATH!, HOME: scene.directory, PULSE_HOME: scene.home };
    const child = spawn(OWN_NODE, [PROGRAM, 'mcp'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.on('error', () => undefined);
    child.stdin.write(`${request(1, 'tools/list')}\n`);
    await once(child.stdout, 'data');
    end(child);
    expect(await once(child, 'exit')).toEqual([code, null]);
  });

  it('does not keep the process waiting for a session when the client is gone', async () => {
    const { stdout } = await scene.pulse(['start', 'Wait', '--command', scene.agent(LONG), '--detach']);
    const sessionId = stdout.trim();
    const began = Date.now();
    const stdin = `${toolCall(1, 'status', { sessionId, waitSeconds: 50 })}\n`;
    const { code, json } = await scene.pulse(['mcp'], { stdin });
    expect(Date.now() - began).toBeLessThan(25_000);
    expect(code).toBe(0);
    expect(json).toMatchObject([{ id: 1, result: { structuredContent: { session: { id: sessionId } } } }]);
    expect((await scene.pulse(['abort', sessionId])).code).toBe(0);
  });
});
