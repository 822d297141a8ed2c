/** Beads over HTTP, by TypeScript, and as an assistant's tools. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { handoffPayload } from '../../src/loops/beads/files/handoff-payload.ts';
import { writeHandoff } from '../../src/loops/beads/files/handoffs.ts';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { makeApiScene, TRUSTED } from '../api/scene.ts';
import { serveHttp, TOKEN } from '../mcp/http-server.ts';
import { call, failedCall } from '../mcp/tool-calls.ts';

const WORK = { files: ['src/a.ts'], verify: ['npm test', { command: 'make', expect: 'exit 3' }] };

describe('beads over HTTP', { timeout: 60_000 }, () => {
  it('are made, listed, ordered, changed and closed', async () => {
    const { ask, app, root } = await makeApiScene();
    const body = { project_key: root, title: 'A', id: 'a', priority: 0, ...WORK };
    const made = await ask('POST', '/api/beads', { body });
    expect([made.status, made.json.bead]).toMatchObject([
      201,
      { id: 'a', verify: [{ command: 'npm test' }, { command: 'make', expect: 'exit 3' }] },
    ]);
    // The project need not be named where only one has beads.
    await ask('POST', '/api/beads', { body: { title: 'B', id: 'b', dependencies: ['a'], ...WORK } });
    expect((await ask('GET', '/api/beads')).json.beads.map(({ id }: { id: string }) => id)).toEqual([
      'a',
      'b',
    ]);
    const named = `project_key=${encodeURIComponent(root)}`;
    expect((await ask('GET', `/api/beads?${named}&status=closed`)).json).toEqual({ beads: [] });
    expect((await ask('GET', '/api/beads/next')).json).toEqual({ bead: made.json.bead });
    expect((await ask('GET', '/api/beads/next?why=true')).json).toMatchObject({
      bead: { id: 'a' },
      why: { chosen: { id: 'a', critical_path: 1 }, skipped: [{ id: 'b', reasons: ['it waits for a'] }] },
    });
    expect((await ask('GET', '/api/beads/next?why=perhaps')).status).toBe(422);
    const graph = (await ask('GET', '/api/beads/graph')).json;
    expect(graph.nodes).toMatchObject([
      { id: 'a', is_ready: true, critical_path: 1, unblocks: 1 },
      { id: 'b', is_ready: false, critical_path: 0 },
    ]);
    expect(graph.edges).toEqual([{ from: 'b', to: 'a', type: 'blocks' }]);
    const changed = await ask('PATCH', '/api/beads/b', { body: { title: 'B2', priority: 4 } });
    expect([changed.status, changed.json.bead]).toMatchObject([
      200,
      { title: 'B2', priority: 4, files: ['src/a.ts'] },
    ]);
    const scope = await ask('POST', '/api/beads/b/scope', { body: { add: ['docs/**'] } });
    expect(scope.json.bead.files).toEqual(['src/a.ts', 'docs/**']);
    const closed = await ask('POST', '/api/beads/a/close', { body: { reason: 'Completed: a' } });
    expect([closed.status, closed.json.bead.close_reason]).toEqual([200, 'Completed: a']);
    expect((await ask('GET', '/api/beads/a')).json.bead.status).toBe('closed');
    const exported = await (await app.request('/api/beads/export')).text();
    expect(exported.trimEnd().split('\n')).toHaveLength(2);
    const imported = await ask('POST', '/api/beads/import', {
      body: { content: exported, file: 'issues.jsonl' },
    });
    expect(imported.json).toEqual({ created: [], updated: [], unchanged: 2, kept: 0 });
  });

  it('need the token, and are refused where they make no sense', async () => {
    const { ask, root } = await makeApiScene();
    expect((await ask('GET', '/api/beads')).status).toBe(422);
    const bead = { project_key: root, title: 'A', id: 'a', ...WORK };
    expect((await ask('POST', '/api/beads', { body: bead, isStranger: true })).status).toBe(401);
    expect((await ask('POST', '/api/beads', { body: bead })).status).toBe(201);
    const refused: [string, string, object, number][] = [
      ['POST', '/api/beads', { ...bead, id: 'b', priority: 5 }, 422],
      ['POST', '/api/beads', { ...bead, id: 'b', testing_mode: 'x' }, 422],
      ['POST', '/api/beads', { ...bead, id: 'b', verify: [{ run: 'x' }] }, 422],
      ['POST', '/api/beads', { ...bead, id: 'b', unknown: 1 }, 422],
      ['POST', '/api/beads', { ...bead, id: 'b', dependencies: ['nobody'] }, 404],
      ['POST', '/api/beads', { ...bead, id: 'b', files: ['../x'] }, 422],
      ['POST', '/api/beads', { ...bead, id: 'b', project_key: '/nowhere' }, 422],
      ['POST', '/api/beads', { ...bead }, 422],
      ['PATCH', '/api/beads/a', { dependencies: ['a'] }, 422],
      ['PATCH', '/api/beads/a', { status: 'closed' }, 422],
      ['PATCH', '/api/beads/nobody', { title: 'x' }, 404],
      ['POST', '/api/beads/nobody/close', {}, 404],
      ['POST', '/api/beads/a/scope', {}, 422],
      ['POST', '/api/beads/import', { content: '{', file: 'x.jsonl' }, 422],
    ];
    for (const [method, path, body, status] of refused)
      expect((await ask(method, path, { body })).status, `${path} ${JSON.stringify(body)}`).toBe(status);
    expect((await ask('GET', '/api/beads')).json.beads).toHaveLength(1);
  });

  it('are made once for each key', async () => {
    const { ask, root } = await makeApiScene();
    const headers = { ...TRUSTED, 'idempotency-key': 'once' };
    const body = { project_key: root, title: 'A', ...WORK };
    const [one, two] = [
      await ask('POST', '/api/beads', { body, headers }),
      await ask('POST', '/api/beads', { body, headers }),
    ];
    expect(two.json).toEqual(one.json);
    expect((await ask('GET', '/api/beads')).json.beads).toHaveLength(1);
    expect((await ask('POST', '/api/beads', { body: { ...body, title: 'B' }, headers })).status).toBe(409);
  });

  it('are drafted for a goal, and imported on a person’s word', async () => {
    const scene = await makeApiScene();
    const { ask, root } = scene;
    const draft = { epic: { id: 'e', title: 'E' }, beads: [{ id: 'e-1', title: 'One', ...WORK }] };
    const command = `cat > /dev/null; pulse tool propose_beads '${JSON.stringify({ draft })}'`;
    const body = { projectPath: root, goal: 'Have it', command };
    expect((await ask('POST', '/api/beads/plan', { body, isStranger: true })).status).toBe(401);
    expect((await ask('POST', '/api/beads/plan', { body: { ...body, goal: ' ' } })).status).toBe(422);
    const { status, json } = await ask('POST', '/api/beads/plan', { body });
    expect([status, scene.handed]).toEqual([201, [json.sessionId]]);
    const look = () => ask('GET', `/api/beads/plans/${json.sessionId}`);
    expect((await look()).json).toMatchObject({ file: null, draft: null, commands: [], content: null });
    await scene.run({ id: json.sessionId });
    const drafted = (await look()).json;
    expect(drafted.commands).toEqual([
      { bead: 'e-1', command: 'npm test' },
      { bead: 'e-1', command: 'make' },
    ]);
    expect((await ask('GET', `/api/beads?project_key=${encodeURIComponent(root)}`)).json.beads).toEqual([]);
    const { content, file } = drafted;
    const imported = await ask('POST', '/api/beads/import', { body: { content, file, project_key: root } });
    expect(imported.json.created).toEqual(['e', 'e-1']);
    const goal = await scene.post('true');
    expect((await ask('GET', `/api/beads/plans/${goal.id}`)).status).toBe(422);
  });

  it('have a queue and handoffs while a swarm works on them', async () => {
    const { ask, root, pulse } = await makeApiScene();
    await writeOnboarding(root, {
      at: '2026-01-01T00:00:00.000Z',
      found: { git: '2', worktrees: true, agents: [], sandbox: false },
    });
    await pulse.bead.create({ project_key: root, id: 'e', title: 'E', type: 'epic' });
    const body = { projectPath: root, epic: 'e', command: 'true' };
    const { sessionId } = (await ask('POST', '/api/swarms', { body })).json;
    expect((await ask('GET', `/api/swarms/${sessionId}/queue`)).json).toEqual({ queue: [] });
    const at = (owner: string) => `/api/swarms/${sessionId}/handoffs${owner}`;
    expect((await ask('GET', at(''))).json).toEqual({ handoffs: [] });
    // Looking has made nothing.
    expect(existsSync(join(root, '.pulse/handoffs'))).toBe(false);
    const facts = { feature: 'e', pausedAt: '2026-01-01T00:00:00.000Z', contextUsed: 0.7, closedBeads: [] };
    await writeHandoff(
      root,
      handoffPayload({ mode: 'standalone', ...facts, beadInFlight: null, nextHint: null }),
    );
    expect((await ask('GET', at(''))).json.handoffs).toMatchObject([{ owner_id: 'single-worker' }]);
    const move = (from: string, to: string) =>
      ask('POST', at('/reassign'), { body: { from, to, reason: 'why' } });
    expect((await move('single-worker', 'single-worker')).status).toBe(422);
    expect((await move('worker-none', 'worker-b')).status).toBe(404);
    expect((await move('single-worker', '../worker')).status).toBe(422);
    const moved = await move('single-worker', 'worker-b');
    expect([moved.status, moved.json.handoff]).toMatchObject([
      200,
      { owner_id: 'worker-b', reassigned: [{ from: 'single-worker', to: 'worker-b', reason: 'why' }] },
    ]);
    expect((await ask('GET', at(''))).json.handoffs).toMatchObject([{ owner_id: 'worker-b' }]);
  });

  it('are methods', async () => {
    const { pulse, root } = await makeApiScene();
    const { bead } = await pulse.bead.create({ project_key: root, title: 'A', ...WORK });
    expect(await pulse.bead.next({ project_key: root })).toEqual({ bead });
    expect((await pulse.bead.close(bead.id, { reason: 'Over' })).bead).toMatchObject({
      close_reason: 'Over',
    });
    expect((await pulse.bead.show(bead.id)).bead.status).toBe('closed');
  });
});

describe('an assistant', { timeout: 60_000 }, () => {
  it('keeps beads with the token, and only looks without it', async () => {
    await using scene = await serveHttp();
    const connect = async (headers: Record<string, string>) => {
      const client = new Client({ name: 'assistant', version: '1' });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(scene.url), { requestInit: { headers } }),
      );
      return client;
    };
    const [trusted, stranger] = [await connect({ authorization: `Bearer ${TOKEN}` }), await connect({})];
    const project_key = scene.scratch.repository;
    await call(trusted, 'pulse_bead_create', { project_key, title: 'A', id: 'a', ...WORK });
    expect(await call(trusted, 'pulse_bead_next', { why: true })).toMatchObject({
      bead: { id: 'a' },
      why: { skipped: [] },
    });
    expect((await failedCall(stranger, 'pulse_bead_close', { id: 'a' })).code).toBe('unauthorized');
    expect(await call(stranger, 'pulse_bead_list')).toMatchObject({ beads: [{ id: 'a', status: 'open' }] });
    const planned = { projectPath: project_key, goal: 'Have it', command: 'cat > /dev/null' };
    expect((await failedCall(stranger, 'pulse_bead_plan', planned)).code).toBe('unauthorized');
    const { sessionId } = await call<{ sessionId: string }>(trusted, 'pulse_bead_plan', planned);
    expect(await call(trusted, 'pulse_bead_plan_show', { sessionId })).toMatchObject({ draft: null });
    const imported = { content: '# P\n- [ ] One\n', file: 'p.md', project_key };
    expect((await call<{ created: string[] }>(trusted, 'pulse_bead_import', imported)).created).toHaveLength(
      2,
    );
    expect(await call(trusted, 'pulse_bead_close', { id: 'a', reason: 'Over' })).toMatchObject({
      bead: { status: 'closed' },
    });
    for (const client of [trusted, stranger]) await client.close();
  });

  it('sees the graph and the file of beads, and what of a swarm waits', async () => {
    await using scene = await serveHttp();
    const client = new Client({ name: 'assistant', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(scene.url), { requestInit }));
    const project_key = scene.scratch.repository;
    await call(client, 'pulse_bead_create', { project_key, title: 'E', id: 'e', type: 'epic' });
    await call(client, 'pulse_bead_create', { project_key, title: 'A', id: 'a', epic: 'e', ...WORK });
    const b = { project_key, title: 'B', id: 'b', dependencies: ['a'], ...WORK };
    await call(client, 'pulse_bead_create', b);
    expect(await call(client, 'pulse_bead_graph', { epic: 'e' })).toMatchObject({
      nodes: [{ id: 'e' }, { id: 'a', is_ready: true, unblocks: 1 }],
      edges: [{ from: 'a', to: 'e', type: 'parent-child' }],
      count: 2,
    });
    const whole = await call<{ edges: object[] }>(client, 'pulse_bead_graph');
    expect(whole.edges).toContainEqual({ from: 'b', to: 'a', type: 'blocks' });
    const { text } = await call<{ text: string }>(client, 'pulse_bead_export');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['e', 'a', 'b']);
    await writeOnboarding(project_key, {
      at: '2026-01-01T00:00:00.000Z',
      found: { git: '2', worktrees: true, agents: [], sandbox: false },
    });
    const started = { projectPath: project_key, epic: 'e', command: 'true' };
    const { sessionId } = await call<{ sessionId: string }>(client, 'pulse_swarm_start', started);
    expect(await call(client, 'pulse_swarm_queue', { sessionId })).toEqual({ queue: [] });
    const facts = { feature: 'e', pausedAt: '2026-01-01T00:00:00.000Z', contextUsed: 0.7, closedBeads: [] };
    const payload = handoffPayload({ mode: 'standalone', ...facts, beadInFlight: null, nextHint: null });
    await writeHandoff(project_key, payload);
    expect(await call(client, 'pulse_swarm_handoffs', { sessionId })).toMatchObject({
      handoffs: [{ owner_id: 'single-worker' }],
    });
    await call(client, 'pulse_swarm_stop', { sessionId });
    await client.close();
  });
});
