import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Running, until, useScene } from '../e2e/scene.ts';
import { forItself, headersOf, MODERN, message } from '../mcp/eras.ts';
import { EventReader } from './event-reader.ts';
import { LiveReader } from './live-reader.ts';

const scene = useScene();

interface Server extends Running {
  url: string;
  token: string;
  /** Asks with the token. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    // biome-ignore lint/suspicious/noExplicitAny: a parsed answer
  ): Promise<{ status: number; json: any }>;
}

async function startServer(...args: string[]): Promise<Server> {
  const port = await freePort();
  const running = scene.start(['serve', '--port', String(port), ...args]);
  await until('it listens', () => running.output().includes('The token is in'));
  const url = `http://127.0.0.1:${port}`;
  const token = readFileSync(join(scene.home, 'token'), 'utf8').trim();
  const ask: Server['ask'] = async (method, path, body, headers = {}) => {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...type, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return { status: answer.status, json: await answer.json() };
  };
  return { ...running, url, token, ask };
}

async function startSession(server: Server, command: string, input: object = {}): Promise<string> {
  const body = { goal: 'the goal', projectPath: scene.repository, command, ...input };
  const { status, json } = await server.ask('POST', '/api/pulse/start', body);
  expect(status, JSON.stringify(json)).toBe(201);
  return json.sessionId;
}

async function status(server: Server, id: string): Promise<string> {
  return (await server.ask('GET', `/api/pulse/${id}`)).json.session.status;
}

async function stop(server: Server, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  server.child.kill(signal);
  return (await server.ended).code;
}

/** Works a while in its first attempt, until a file is there. */
function slowAgent(): { command: string; started: () => boolean; release: () => void } {
  const [mark, go] = ['started', 'go'].map((name) => join(scene.directory, name)) as [string, string];
  const command = scene.agent(
    `touch ${mark}; while [ ! -f ${go} ]; do sleep 0.05; done; echo done > done.txt; echo "Done. <signal>COMPLETE</signal>"`,
  );
  return { command, started: () => existsSync(mark), release: () => writeFileSync(go, '') };
}

describe('pulse serve', () => {
  it('runs what is started over HTTP to its end, and streams it', async () => {
    const server = await startServer();
    const command = scene.agent('echo x > x.txt; echo "Done. <signal>COMPLETE</signal>"');
    const id = await startSession(server, command, { verify: ['test -f x.txt'] });
    const events = await fetch(`${server.url}/api/pulse/${id}/events`);
    const messages = await new EventReader(events.body!).all();
    expect(messages.map((message) => message.id)).toEqual(messages.map((_, index) => index + 1));
    expect(messages.at(-1)?.event.type).toBe('session.ended');
    const { json } = await server.ask('GET', `/api/pulse/${id}`);
    expect(json.session).toMatchObject({ status: 'complete', created_by: 'api', total_commits: 1 });
    expect((await server.ask('GET', `/api/pulse/${id}/verifications`)).json.verifications).toMatchObject([
      { passed: true },
    ]);
    expect(scene.git('show', `${json.session.branch_name}:x.txt`)).toBe('x');
    expect(statSync(join(scene.home, 'token')).mode & 0o777).toBe(0o600);
    expect(server.token).toMatch(/^[\w-]{43}$/);
    expect(await stop(server)).toBe(143);
  });

  it('pauses, resumes and aborts a session it runs', async () => {
    const server = await startServer();
    const command = scene.agent(
      'sleep 0.2; echo "Step. <signal>CONTINUE</signal>"; date +%N > "f$PULSE_ITERATION"',
    );
    const id = await startSession(server, command, { maxIterations: 100 });
    expect((await server.ask('POST', `/api/pulse/${id}/pause`)).status).toBe(202);
    await until('it is paused', async () => (await status(server, id)) === 'paused');
    expect((await server.ask('POST', `/api/pulse/${id}/resume`)).status).toBe(202);
    expect(await status(server, id)).toBe('running');
    await until('it works again', async () => {
      const { json } = await server.ask('GET', `/api/pulse/${id}`);
      return json.session.current_iteration >= 2 || json.session.status !== 'running';
    });
    const { json } = await server.ask('POST', `/api/pulse/${id}/abort`);
    expect(json.session).toMatchObject({ status: 'aborted' });
    await until('its runner has left', async () => /pulse_runners 0/.test(await metrics(server)));
    await stop(server);
  });

  it('is killed under a live stream, which loses and repeats nothing at the next one', async () => {
    const command = scene.agent(
      'sleep 0.1; date +%N > "f$PULSE_ITERATION"; echo "Step. <signal>CONTINUE</signal>"',
    );
    let server = await startServer();
    const id = await startSession(server, command, { maxIterations: 6 });
    const seen: number[] = [];
    let vector: string | null = null;
    let status = '';
    for (let kills = 0; status !== 'blocked'; kills++) {
      const headers: Record<string, string> = vector === null ? {} : { 'last-event-id': vector };
      const reader = new LiveReader(await fetch(`${server.url}/api/live?watch=${id}:0`, { headers }));
      for (let count = 0; status !== 'blocked' && (kills >= 2 || count < 12); count++) {
        const { event, data } = (await reader.next())!;
        if (event === 'card' && data.session.id === id) status = data.session.status;
      }
      if (kills < 2) {
        await stop(server, 'SIGKILL');
        server = await startServer();
      } else await reader.drop();
      seen.push(...reader.events(id));
      vector = reader.messages.at(-1)!.id;
    }
    const last = new LiveReader(
      await fetch(`${server.url}/api/live`, { headers: { 'last-event-id': vector! } }),
    );
    await last.until(({ event }) => event === 'ready');
    await last.drop();
    const { json } = await server.ask('GET', `/api/pulse/${id}/history?limit=1000`);
    expect([...seen, ...last.events(id)]).toEqual(json.events.map(({ seq }: { seq: number }) => seq));
    await stop(server);
  });

  it('goes on after kill -9 with what it had in hand', async () => {
    const first = await startServer();
    const agent = slowAgent();
    const id = await startSession(first, agent.command);
    await until('the agent works', agent.started);
    first.child.kill('SIGKILL');
    await first.ended;
    agent.release();
    const second = await startServer();
    await until('it says so', () => second.output().includes(`${id}: continues`));
    await until('it is complete', async () => (await status(second, id)) === 'complete');
    await stop(second);
  });

  it('leaves its sessions running when it is told to stop; the next one goes on', async () => {
    const first = await startServer();
    const agent = slowAgent();
    const id = await startSession(first, agent.command);
    await until('the agent works', agent.started);
    const events = await fetch(`${first.url}/api/pulse/${id}/events`);
    const streamed = new EventReader(events.body!).all();
    const asked = Date.now();
    expect(await stop(first, 'SIGINT')).toBe(130);
    expect(Date.now() - asked).toBeLessThan(8_000);
    expect((await streamed).length).toBeGreaterThan(0);
    await until('nothing of it is left', () => scene.processes().length === 0);
    const [listed] = (await scene.pulse(['list', '--json'])).json;
    expect(listed).toMatchObject({ sessions: [{ id, status: 'running' }] });

    agent.release();
    const second = await startServer();
    await until('it is complete', async () => (await status(second, id)) === 'complete');
    await stop(second);
  });

  it('leaves to others what it did not run, unless it is told to adopt', async () => {
    const agent = slowAgent();
    const { stdout } = await scene.pulse(['start', 'goal', '--command', agent.command, '--detach']);
    const id = stdout.trim();
    await until('the agent works', agent.started);
    for (const pid of scene.processes()) process.kill(pid, 'SIGKILL');
    await until('all are dead', () => scene.processes().length === 0);
    agent.release();

    const modest = await startServer();
    expect(modest.output()).not.toContain('continues');
    expect(await status(modest, id)).toBe('running');
    await stop(modest);
    const adopting = await startServer('--adopt');
    await until('it is complete', async () => (await status(adopting, id)) === 'complete');
    await stop(adopting);
  });

  it('stops following when a client goes', async () => {
    const server = await startServer();
    const agent = slowAgent();
    const { stdout } = await scene.pulse(['start', 'goal', '--command', agent.command, '--detach']);
    const gone = new AbortController();
    const events = await fetch(`${server.url}/api/pulse/${stdout.trim()}/events`, { signal: gone.signal });
    await new EventReader(events.body!).next();
    const listening = (): number =>
      readdirSync(join(scene.home, 'sockets')).filter((name) => name.endsWith(`.${server.child.pid}.sock`))
        .length;
    // Beside the session it always listens for jobs, and for all sessions at once.
    const follows = (): boolean => listening() > 2;
    expect(listening()).toBe(3);
    gone.abort();
    await until('it has stopped following', () => !follows());
    agent.release();
    const finished = await fetch(`${server.url}/api/pulse/${stdout.trim()}/events`);
    expect((await new EventReader(finished.body!).all()).at(-1)?.event.type).toBe('session.ended');
    await stop(server);
  });

  it('is refused beside another one, which it names', async () => {
    const first = await startServer();
    const second = await scene.pulse(['serve', '--port', String(await freePort()), '--json']);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`served already by process ${first.child.pid}`);
    expect(second.stderr).toContain(first.url);
    expect(second.json[0]).toMatchObject({ error: { code: 'already_serving' } });
    expect((await first.ask('GET', '/api/health')).status).toBe(200);
    await stop(first);
    expect(existsSync(join(scene.home, 'serve.lock'))).toBe(false);
  });

  it('says so when the port is taken, and refuses what is no port', async () => {
    const holder = createServer();
    const port = await new Promise<number>((resolve) => {
      holder.listen(0, '127.0.0.1', () => resolve((holder.address() as { port: number }).port));
    });
    const taken = await scene.pulse(['serve', '--port', String(port)]);
    holder.close();
    expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('choose another with --port')]);
    expect((await scene.pulse(['serve', '--port', '70000'])).code).toBe(2);
  });

  it('checks Host, Origin and token on the wire', async () => {
    const server = await startServer();
    const { port } = new URL(server.url);
    const statusFor = (headers: Record<string, string>, path = '/api/pulse'): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = httpRequest({ host: '127.0.0.1', port, path, headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        sent.on('error', reject);
        sent.end();
      });
    expect(await statusFor({})).toBe(200);
    expect(await statusFor({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200);
    expect(await statusFor({ host: 'evil.example' })).toBe(403);
    expect(await statusFor({ host: 'evil.example' }, '/api/health')).toBe(403);
    expect(await statusFor({ host: 'two words' })).toBe(400);
    expect(await statusFor({ origin: 'http://evil.example' })).toBe(403);
    expect(await statusFor({ authorization: 'Bearer wrong' })).toBe(401);
    const unnamed = await fetch(`${server.url}/api/pulse/ses_0000/resume`, { method: 'POST' });
    expect(unnamed.status).toBe(401);
    await stop(server);
  });

  it('answers MCP at /mcp', async () => {
    const server = await startServer();
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const answer = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(list) });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await answer.text()).toContain('pulse_start');
    const asked = message('server/discover');
    const discovered = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...headersOf(asked) },
      body: JSON.stringify(forItself(asked)),
    });
    expect(await discovered.json()).toMatchObject({ result: { supportedVersions: [MODERN] } });
    await stop(server);
  });

  it('needs the token for everything once it listens beyond loopback', async () => {
    const server = await startServer('--host', '0.0.0.0');
    expect((await fetch(`${server.url}/api/pulse`)).status).toBe(401);
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
    expect((await server.ask('GET', '/api/pulse')).status).toBe(200);
    await stop(server);
  });

  it('refuses a body that is too large, also one that does not say how large', async () => {
    const server = await startServer();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${server.token}` };
    const whole = await fetch(`${server.url}/api/pulse/start`, {
      method: 'POST',
      headers,
      body: 'x'.repeat(2_000_000),
    });
    expect(whole.status).toBe(413);
    const chunked = await fetch(`${server.url}/api/pulse/start`, {
      method: 'POST',
      headers,
      body: stream({ chunks: 30, bytes: 100_000 }),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
    // One that goes on and on is cut off; whether its sender still sees the answer is up to its network.
    const endless = fetch(`${server.url}/api/pulse/start`, {
      method: 'POST',
      headers,
      body: stream({ chunks: 300, bytes: 100_000 }),
      duplex: 'half',
    } as RequestInit);
    expect(await endless.then((answer) => answer.status).catch(() => 413)).toBe(413);
    expect((await server.ask('GET', '/api/health')).status).toBe(200);
    await stop(server);
  });
});

function stream({ chunks, bytes }: { chunks: number; bytes: number }): ReadableStream<Uint8Array> {
  let left = chunks;
  return new ReadableStream({
    pull(controller) {
      if (left-- === 0) controller.close();
      else controller.enqueue(new Uint8Array(bytes).fill(120));
    },
  });
}

async function metrics({ url }: Server): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
