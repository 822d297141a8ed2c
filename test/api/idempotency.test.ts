import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import type { Pulse } from '../../src/pulse.ts';
import { COMPLETE, CONTINUE } from '../engine/scene.ts';
import { type ApiScene, makeApiScene, TOKEN, TRUSTED } from './scene.ts';

const START = '/api/pulse/start';

function startBody({ root }: ApiScene, goal = 'g'): Record<string, unknown> {
  return { goal, projectPath: root, agent: 'demo' };
}

function keyed(key: string): Record<string, string> {
  return { ...TRUSTED, 'idempotency-key': key };
}

async function sessionCount({ ask }: ApiScene): Promise<number> {
  return (await ask('GET', '/api/pulse')).json.sessions.length;
}

describe('Idempotency-Key on a start', () => {
  it('gives the same request the same answer, also after the session has gone on', async () => {
    const scene = await makeApiScene();
    const { ask, pulse, handed } = scene;
    const call = { body: startBody(scene), headers: keyed('k1') };
    const first = await ask('POST', START, call);
    expect(first.status).toBe(201);
    await pulse.abort(first.json.sessionId, { actor: 'test' });
    const second = await ask('POST', START, call);
    expect([second.status, JSON.stringify(second.json)]).toEqual([201, JSON.stringify(first.json)]);
    expect(await sessionCount(scene)).toBe(1);
    expect(handed).toHaveLength(1);
  });

  it('does not mind the order of the fields', async () => {
    const scene = await makeApiScene();
    const body = startBody(scene);
    const reversed = Object.fromEntries(Object.entries(body).reverse());
    const first = await scene.ask('POST', START, { body, headers: keyed('k1') });
    const second = await scene.ask('POST', START, { body: reversed, headers: keyed('k1') });
    expect(second.json).toEqual(first.json);
  });

  it('refuses another body with 409', async () => {
    const scene = await makeApiScene();
    await scene.ask('POST', START, { body: startBody(scene), headers: keyed('k1') });
    const other = await scene.ask('POST', START, { body: startBody(scene, 'other'), headers: keyed('k1') });
    expect(other).toMatchObject({ status: 409, json: { error: { code: 'key_reused' } } });
    expect(await sessionCount(scene)).toBe(1);
  });

  it('admits one session for twenty identical requests at once, and answers all alike', async () => {
    const scene = await makeApiScene();
    const call = { body: startBody(scene), headers: keyed('k1') };
    const answers = await Promise.all(Array.from({ length: 20 }, () => scene.ask('POST', START, call)));
    expect(new Set(answers.map(({ status, json }) => `${status} ${JSON.stringify(json)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect(await sessionCount(scene)).toBe(1);
    expect(scene.handed).toHaveLength(1);
  });

  it('lets one of several different requests at once win', async () => {
    const scene = await makeApiScene();
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((goal) =>
        scene.ask('POST', START, { body: startBody(scene, goal), headers: keyed('k') }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await sessionCount(scene)).toBe(1);
  });

  it('remembers no refusal: the key is free for a right request', async () => {
    const scene = await makeApiScene();
    const wrong = { ...startBody(scene), base: 'nowhere' };
    expect(await scene.ask('POST', START, { body: wrong, headers: keyed('k') })).toMatchObject({
      status: 422,
    });
    expect(await scene.ask('POST', START, { body: startBody(scene), headers: keyed('k') })).toMatchObject({
      status: 201,
    });
  });

  it('does not start twice when the server died between the admission and the answer', async () => {
    const scene = await makeApiScene();
    const { pulse } = scene;
    const dying: Pulse = {
      ...pulse,
      async call(operation, input) {
        await pulse.call(operation, input);
        throw new Error('died');
      },
    };
    const before = createApi({ pulse: dying, token: TOKEN, runSession: () => undefined });
    const body = JSON.stringify(startBody(scene));
    const headers = { ...keyed('k1'), 'content-type': 'application/json' };
    expect((await before.request(START, { method: 'POST', body, headers })).status).toBe(500);
    const again = await scene.ask('POST', START, { body, headers });
    expect(again).toMatchObject({ status: 201, json: { session: { status: 'pending' } } });
    expect(await scene.ask('POST', START, { body, headers })).toMatchObject({ json: again.json });
    expect(await sessionCount(scene)).toBe(1);
  });

  it('forgets a key after a day', async () => {
    const scene = await makeApiScene();
    await scene.ask('POST', START, { body: startBody(scene), headers: keyed('k1') });
    await scene.store.tx('age', (db) =>
      db.updateTable('idempotency_keys').set({ created_at: '2000-01-01T00:00:00.000Z' }).execute(),
    );
    const other = await scene.ask('POST', START, { body: startBody(scene, 'other'), headers: keyed('k1') });
    expect(other).toMatchObject({ status: 201 });
    expect(await sessionCount(scene)).toBe(2);
  });

  it.each(['', ' ', 'ä', 'x'.repeat(256)])('refuses the key "%s"', async (key) => {
    const scene = await makeApiScene();
    const answer = await scene.ask('POST', START, { body: startBody(scene), headers: keyed(key) });
    expect(answer).toMatchObject({ status: 422, json: { error: { details: { in: 'header' } } } });
    expect(await sessionCount(scene)).toBe(0);
  });
});

describe('Idempotency-Key on pause, resume and abort', () => {
  it('gives the same answer again, where the change itself could not be made twice', async () => {
    const scene = await makeApiScene();
    const { ask, post, run, handed } = scene;
    const { id } = await run(await post(CONTINUE, { maxIterations: 1 }));
    const resume = { body: { maxIterations: 5 }, headers: keyed('r') };
    const first = await ask('POST', `/api/pulse/${id}/resume`, resume);
    expect(first).toMatchObject({ status: 202, json: { session: { status: 'running', max_iterations: 5 } } });

    const paused = await ask('POST', `/api/pulse/${id}/pause`, { headers: keyed('p') });
    const aborted = await ask('POST', `/api/pulse/${id}/abort`, { headers: keyed('a') });
    expect([paused.status, aborted.status]).toEqual([202, 202]);
    expect(await ask('POST', `/api/pulse/${id}/resume`, resume)).toMatchObject({
      status: 202,
      json: first.json,
    });
    expect(await ask('POST', `/api/pulse/${id}/pause`, { headers: keyed('p') })).toMatchObject({
      json: paused.json,
    });
    expect(await ask('POST', `/api/pulse/${id}/abort`, { headers: keyed('a') })).toMatchObject({
      json: aborted.json,
    });
    expect(handed).toEqual([id, id]);
  });

  it('refuses a key that came with another change', async () => {
    const { ask, post } = await makeApiScene();
    const { id } = await post(COMPLETE);
    expect(await ask('POST', `/api/pulse/${id}/pause`, { headers: keyed('k') })).toMatchObject({
      status: 202,
    });
    expect(await ask('POST', `/api/pulse/${id}/abort`, { headers: keyed('k') })).toMatchObject({
      status: 409,
    });
    expect((await ask('GET', `/api/pulse/${id}`)).json.session.status).toBe('pending');
  });

  it('remembers also a resume that only found the session running', async () => {
    const { ask, post, handed } = await makeApiScene();
    const { id } = await post(COMPLETE);
    const first = await ask('POST', `/api/pulse/${id}/resume`, { headers: keyed('k') });
    const second = await ask('POST', `/api/pulse/${id}/resume`, { headers: keyed('k') });
    expect(second).toMatchObject({ status: 202, json: first.json });
    expect(handed).toEqual([id, id]);
  });
});
