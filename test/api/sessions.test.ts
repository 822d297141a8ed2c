import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import { getControl } from '../../src/store/sessions.ts';
import { COMPLETE, CONTINUE } from '../engine/scene.ts';
import { makeApiScene, TOKEN, TRUSTED } from './scene.ts';

const UNKNOWN = 'ses_00000000-0000-7000-8000-000000000000';

describe('POST /api/pulse/start', () => {
  it('asks the agent for the model that is wanted, and refuses a name that is none', async () => {
    const { ask, root, store } = await makeApiScene();
    const start = (model: string) =>
      ask('POST', '/api/pulse/start', { body: { goal: 'g', projectPath: root, agent: 'demo', model } });
    const { json } = await start('some-model');
    const { settings } = await store.read((db) => getControl(db, json.sessionId));
    expect(settings.model).toBe('some-model');
    expect(await start('--other')).toMatchObject({ status: 400, json: { error: { code: 'usage' } } });
  });

  it('admits a session and hands it to a runner', async () => {
    const { ask, root, handed } = await makeApiScene();
    const body = {
      goal: 'Say hello',
      projectName: 'greeter',
      projectPath: root,
      maxIterations: 3,
      agent: 'demo',
      contextStrategy: 'prefetch',
      base: 'main',
      branch: 'pulse/hello',
      budgetUsd: 2.5,
      budgetTokens: 1000,
      timeLimit: '1h30m',
      iterationTimeout: 90_000,
      idleTimeout: '90s',
      chatId: 12345,
      phoneNumber: '+4912345',
      discordThreadId: '99',
    };
    const { status, json } = await ask('POST', '/api/pulse/start', { body });
    expect(status).toBe(201);
    expect(json.sessionId).toBe(json.session.id);
    expect(json.session).toMatchObject({
      goal: 'Say hello',
      project_name: 'greeter',
      project_path: root,
      max_iterations: 3,
      agent: 'demo',
      branch_name: 'pulse/hello',
      budget_usd: 2.5,
      budget_tokens: 1000,
      time_limit_ms: 5_400_000,
      iteration_timeout_ms: 90_000,
      idle_timeout_ms: 90_000,
      chat_id: '12345',
      phone_number: '+4912345',
      discord_thread_id: '99',
      created_by: 'api',
      status: 'pending',
      verify: [],
      progress_log: [],
    });
    expect(handed).toEqual([json.sessionId]);
  });

  it("is in the server's hand from the moment it is admitted, so that no crash can lose it", async () => {
    const { pulse, root } = await makeApiScene();
    const hand = pulse.servedSessions('this server');
    const dead = createApi({ pulse, token: TOKEN, runSession: () => undefined, take: hand.take });
    const body = JSON.stringify({ goal: 'g', projectPath: root, agent: 'demo' });
    const headers = { 'content-type': 'application/json', ...TRUSTED };
    const answer = await dead.request('/api/pulse/start', { method: 'POST', body, headers });
    const { sessionId } = (await answer.json()) as { sessionId: string };
    expect(await hand.list()).toEqual([sessionId]);
    expect(await pulse.servedSessions('another').list()).toEqual([]);
  });

  it('takes `null` for no cost limit', async () => {
    const { post } = await makeApiScene();
    expect(await post(COMPLETE, { budgetUsd: null })).toMatchObject({ budget_usd: null });
  });

  it('hides a secret in what it shows', async () => {
    const { post } = await makeApiScene();
    const { goal } = await post(COMPLETE, { goal: 'Use GITHUB_TOKEN=ghp_0123456789abcdef0123' });
    expect(goal).toBe('Use GITHUB_TOKEN=[redacted]');
  });

  it('needs the token, whatever it asks for', async () => {
    const { ask, root, handed } = await makeApiScene();
    const body = { goal: 'g', projectPath: root, agent: 'demo' };
    const { status, headers, json } = await ask('POST', '/api/pulse/start', { body, isStranger: true });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(json.error).toMatchObject({ code: 'unauthorized', hint: expect.stringContaining('token') });
    expect((await ask('GET', '/api/pulse')).json.sessions).toEqual([]);
    expect(handed).toEqual([]);
  });

  it('lists every violation at once', async () => {
    const { ask, handed } = await makeApiScene();
    const body = { goal: ' ', projectPath: 'here', maxIterations: 0, timeLimit: 'soon', color: 'red' };
    const { status, json } = await ask('POST', '/api/pulse/start', { body, headers: TRUSTED });
    expect(status).toBe(422);
    expect(json.error.code).toBe('invalid_input');
    const paths = json.error.details.violations.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual(['', 'goal', 'maxIterations', 'projectPath', 'timeLimit']);
    expect(handed).toEqual([]);
  });

  it.each([
    [422, 'invalid_input', { projectPath: '/nowhere/at/all' }],
    [422, 'not_a_repository', { projectPath: '/' }],
    [400, 'usage', { agent: 'nobody' }],
    [422, 'unknown_base', { base: 'no-such-branch' }],
    [422, 'invalid_input', { branch: 'two words' }],
    [409, 'branch_exists', { branch: 'main' }],
    [413, 'too_large', { goal: 'x'.repeat(70_000) }],
  ])('answers %i %s for %o and creates nothing', async (status, code, wrong) => {
    const { ask, root } = await makeApiScene();
    const body = { goal: 'g', projectPath: root, agent: 'demo', ...wrong };
    const answer = await ask('POST', '/api/pulse/start', { body });
    expect(answer).toMatchObject({
      status,
      json: { error: { code, message: expect.any(String), details: {} } },
    });
    expect((await ask('GET', '/api/pulse')).json.sessions).toEqual([]);
  });

  it.each([
    ['malformed JSON', 400, '{"goal": ', { 'content-type': 'application/json' }],
    ['another type', 400, 'goal=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a body without a type', 400, 'goal=x', { 'content-type': '' }],
    ['no body', 422, undefined, {}],
    ['a body that is no object', 422, '[]', { 'content-type': 'application/json' }],
    ['more than 1 MB', 413, `"${'x'.repeat(1024 * 1024)}"`, { 'content-type': 'application/json' }],
  ])('refuses %s with %i', async (_, status, body, headers) => {
    const { ask } = await makeApiScene();
    const answer = await ask('POST', '/api/pulse/start', { body, headers: { ...TRUSTED, ...headers } });
    expect(answer.status).toBe(status);
    expect(answer.json.error).toEqual({
      code: expect.any(String),
      message: expect.any(String),
      hint: expect.toSatisfy((hint) => hint === null || typeof hint === 'string'),
      details: expect.any(Object),
    });
  });
});

describe('GET /api/pulse/:id', () => {
  it('shows a session and its iterations, by its id or the beginning of it', async () => {
    const { ask, post, run } = await makeApiScene();
    const { id } = await run(
      await post(`echo x > "f$PULSE_ITERATION"; ${COMPLETE}`, { verify: ['test -f f1'] }),
    );
    for (const name of [id, id.slice(0, 20)]) {
      const { status, json } = await ask('GET', `/api/pulse/${name}`);
      expect(status).toBe(200);
      expect(json.session).toMatchObject({ id, status: 'complete', stop_reason: 'completed' });
      expect(json.session.progress_log).toHaveLength(1);
      expect(json.iterations).toMatchObject([
        { iteration_number: 1, files_changed: ['f1'], outcome: 'completed' },
      ]);
    }
  });

  it('answers 404 for a session that is not there, whatever its name', async () => {
    const { ask } = await makeApiScene();
    for (const id of [UNKNOWN, 'ses_', '..%2f..', '%00', 'x'.repeat(90), '%E0%A4%A']) {
      expect(await ask('GET', `/api/pulse/${id}`)).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found' } },
      });
    }
  });
});

describe('GET /api/pulse/:id/iterations/:n and /verifications', () => {
  it('show one iteration, and the evidence', async () => {
    const { ask, post, run } = await makeApiScene();
    const { id } = await run(await post(COMPLETE, { verify: ['echo checked'] }));
    const { status, json } = await ask('GET', `/api/pulse/${id}/iterations/1`);
    expect(status).toBe(200);
    expect(json.iteration).toMatchObject({
      session_id: id,
      iteration_number: 1,
      task_content: expect.any(String),
    });
    const record = { iteration: 1, command: 'echo checked', exit: 0, passed: true, outputTail: 'checked' };
    expect(json.verifications).toMatchObject([record]);
    expect((await ask('GET', `/api/pulse/${id}/verifications`)).json.verifications).toMatchObject([record]);
  });

  it('answer 404 for what is not there and 422 for what is no number', async () => {
    const { ask, post } = await makeApiScene();
    const { id } = await post(COMPLETE);
    expect(await ask('GET', `/api/pulse/${id}/iterations/7`)).toMatchObject({ status: 404 });
    for (const n of ['0', 'x', '-1', '1.5', '99999999999']) {
      expect(await ask('GET', `/api/pulse/${id}/iterations/${n}`)).toMatchObject({ status: 422 });
    }
    expect(await ask('GET', `/api/pulse/${UNKNOWN}/verifications`)).toMatchObject({ status: 404 });
  });
});

describe('GET /api/pulse', () => {
  it('lists newest first, in pages, by status', async () => {
    const { ask, post, run } = await makeApiScene();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await post(COMPLETE)).id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { status, json } = await ask('GET', `/api/pulse?status=&limit=2&cursor=${cursor}`);
      expect(status).toBe(200);
      seen.push(...json.sessions.map(({ id }: { id: string }) => id));
      cursor = json.nextCursor ?? '';
    } while (cursor);
    expect(seen).toEqual(ids);
    await run({ id: ids[2]! });
    const { json } = await ask('GET', '/api/pulse?status=complete');
    expect(json).toMatchObject({ sessions: [{ id: ids[2] }], nextCursor: null });
  });

  it.each(['status=done', 'limit=0', 'limit=201', 'limit=many', 'cursor=x', 'status=running&status=paused'])(
    'refuses ?%s with 422',
    async (query) => {
      const { ask } = await makeApiScene();
      expect(await ask('GET', `/api/pulse?${query}`)).toMatchObject({
        status: 422,
        json: { error: { details: { in: 'query', violations: [{ path: query.split('=')[0] }] } } },
      });
    },
  );
});

describe('pause, resume, abort', () => {
  it('pause and go on with an answer', async () => {
    const { ask, post, run, handed, events } = await makeApiScene();
    const session = await post(`${CONTINUE}`, { maxIterations: 2 });
    expect(await ask('POST', `/api/pulse/${session.id}/pause`)).toMatchObject({
      status: 202,
      json: { session: { id: session.id } },
    });
    expect(await run(session)).toMatchObject({ status: 'paused' });

    const body = { answer: 'Go on.', maxIterations: 4, budgetUsd: 20, budgetTokens: 5, timeLimit: '9h' };
    const refused = await ask('POST', `/api/pulse/${session.id}/resume`, { body, isStranger: true });
    expect(refused).toMatchObject({ status: 401, json: { error: { code: 'unauthorized' } } });
    expect(handed).toHaveLength(1);
    const { status, json } = await ask('POST', `/api/pulse/${session.id}/resume`, { body, headers: TRUSTED });
    expect(status).toBe(202);
    expect(json.session).toMatchObject({
      status: 'running',
      max_iterations: 4,
      budget_usd: 20,
      budget_tokens: 5,
      time_limit_ms: 9 * 3_600_000,
    });
    expect(handed).toEqual([session.id, session.id]);
    const resumed = (await events(session)).find(({ type }) => type === 'session.resumed');
    expect(resumed?.data).toMatchObject({ actor: 'api', answer: 'Go on.' });
    expect(await run(session)).not.toMatchObject({ status: 'running' });
  });

  it('note something with the token alone, and answer by a note', async () => {
    const { ask, post, run, handed, events } = await makeApiScene();
    const session = await run(await post('echo "<signal>BLOCKED: which?</signal>"'));
    const path = `/api/pulse/${session.id}/notes`;
    const said = { text: 'The second.' };
    expect(await ask('POST', path, { body: said, isStranger: true })).toMatchObject({ status: 401 });
    expect(await ask('POST', path, { body: { text: '' } })).toMatchObject({ status: 422 });
    const headers = { ...TRUSTED, 'idempotency-key': 'note-1' };
    for (const _ of [1, 2])
      expect(await ask('POST', path, { body: said, headers })).toMatchObject({
        status: 202,
        json: { session: { id: session.id, status: 'blocked' } },
      });
    const notes = (await events(session)).filter(({ type }) => type === 'note.added');
    expect(notes.map(({ data }) => data)).toEqual([{ actor: 'api', text: 'The second.' }]);
    expect(handed).toEqual([session.id]);
    const answer = { body: { text: 'The third.', isAnswer: true }, headers: TRUSTED };
    expect(await ask('POST', path, answer)).toMatchObject({
      status: 202,
      json: { session: { status: 'running' } },
    });
    expect(handed).toEqual([session.id, session.id]);
  });

  it('adopt a session that nobody runs', async () => {
    const { ask, start, handed } = await makeApiScene();
    const { id } = await start(COMPLETE);
    expect(await ask('POST', `/api/pulse/${id}/resume`, { headers: TRUSTED })).toMatchObject({ status: 202 });
    expect(handed).toEqual([id]);
  });

  it('abort for good', async () => {
    const { ask, post } = await makeApiScene();
    const { id } = await post(COMPLETE);
    expect(await ask('POST', `/api/pulse/${id}/abort`, { body: {} })).toMatchObject({
      status: 202,
      json: { session: { status: 'aborted', stop_reason: 'aborted_by_user' } },
    });
    for (const change of ['abort', 'pause', 'resume']) {
      expect(await ask('POST', `/api/pulse/${id}/${change}`, { headers: TRUSTED })).toMatchObject({
        status: 409,
        json: { error: { code: 'invalid_transition' } },
      });
    }
  });

  it('ask for a higher limit after a limit', async () => {
    const { ask, post, run } = await makeApiScene();
    const { id } = await run(await post(CONTINUE, { maxIterations: 1 }));
    expect(await ask('POST', `/api/pulse/${id}/resume`, { headers: TRUSTED })).toMatchObject({
      status: 409,
      json: { error: { code: 'limit_not_raised', hint: expect.stringContaining('max-iterations') } },
    });
  });

  it('pauses at once where that is asked for', async () => {
    const { ask, post, store } = await makeApiScene();
    const { id } = await post(CONTINUE);
    await ask('POST', `/api/pulse/${id}/pause`, { body: { now: true } });
    expect((await store.read((db) => getControl(db, id))).request).toBe('stop');
  });

  it('accept an empty body that calls itself JSON', async () => {
    const { ask, post } = await makeApiScene();
    const { id } = await post(COMPLETE);
    const headers = { 'content-type': 'application/json' };
    expect(await ask('POST', `/api/pulse/${id}/pause`, { headers })).toMatchObject({ status: 202 });
  });

  it('answer 404 for a session that is not there', async () => {
    const { ask } = await makeApiScene();
    for (const change of ['abort', 'pause', 'resume']) {
      expect(await ask('POST', `/api/pulse/${UNKNOWN}/${change}`, { headers: TRUSTED })).toMatchObject({
        status: 404,
      });
    }
  });
});

describe('the server itself', () => {
  it('says that it is well, and 503 when its store is not', async () => {
    const { ask, pulse } = await makeApiScene();
    expect(await ask('GET', '/api/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
    await pulse[Symbol.asyncDispose]();
    const { status, json } = await ask('GET', '/api/health');
    expect([status, json.error.code]).toEqual([503, 'store_unavailable']);
  });

  it('gives figures to Prometheus', async () => {
    const { ask, post, run } = await makeApiScene({ runners: () => 3 });
    await run(await post(COMPLETE));
    await post(COMPLETE);
    const { status, headers, json: text } = await ask('GET', '/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain/);
    expect(text).toContain('pulse_sessions{status="complete"} 1\n');
    expect(text).toContain('pulse_sessions{status="pending"} 1\n');
    expect(text).toContain('pulse_iterations_settled_total 1\n');
    expect(text).toContain('pulse_spent_usd_total 0\n');
    expect(text).toContain('pulse_runners 3\n');
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[a-z0-9]+"\})? [\d.e+-]+)$/);
    }
  });

  it('describes every route it has', async () => {
    const { ask, app } = await makeApiScene();
    const { json } = await ask('GET', '/openapi.json');
    const described = Object.entries(json.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map(
        (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      ),
    );
    const there = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`);
    expect(new Set(described)).toEqual(new Set(there.filter((route) => route !== 'GET /openapi.json')));
  });

  it('answers 404 for a route it does not have', async () => {
    const { ask } = await makeApiScene();
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/api/pulse/ses_1/nothing'],
      ['DELETE', '/api/pulse/ses_1'],
      ['PUT', '/api/pulse/start'],
      ['OPTIONS', '/api/pulse'],
    ] as const) {
      expect(await ask(method, path)).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    }
  });
});
