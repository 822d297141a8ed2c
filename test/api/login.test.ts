/** Who may ask from a page, without a port: codes, keys, scopes, tickets. */
import { describe, expect, it } from 'vitest';
import { STRANGER } from '../../src/api/caller.ts';
import { createTickets } from '../../src/api/tickets.ts';
import { type ApiScene, makeApiScene, TOKEN } from './scene.ts';

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function login({ ask }: ApiScene, body: object) {
  const answer = await ask('POST', '/api/login', { body, isStranger: true });
  return { ...answer, key: answer.json.key as string, device: answer.json.device };
}

describe('signing in', () => {
  it('gives a key for the token; who has it is recorded', async () => {
    const scene = await makeApiScene();
    const { status, key, device } = await login(scene, {
      token: TOKEN,
      name: 'Ana’s phone'.replace('’', "'"),
    });
    expect(status).toBe(201);
    expect(key).toMatch(/^pk_[\w-]{43}$/);
    expect(device).toMatchObject({ name: "Ana's phone", scopes: ['read', 'operate'] });
    const started = await scene.ask('POST', '/api/pulse/start', {
      ...{ isStranger: true, headers: bearer(key) },
      body: { goal: 'x', projectPath: scene.root, command: 'true' },
    });
    expect(started).toMatchObject({ status: 201, json: { session: { created_by: 'web' } } });
    const { sessionId } = started.json;
    await scene.ask('POST', `/api/pulse/${sessionId}/abort`, { isStranger: true, headers: bearer(key) });
    const events = await scene.events({ id: sessionId });
    expect(events.at(-1)).toMatchObject({ type: 'session.aborted', data: { actor: "web:Ana's phone" } });
    const { keys } = (await scene.ask('GET', '/api/keys')).json;
    expect(keys).toMatchObject([{ id: device.id, lastUsedAt: expect.any(String) }]);
    expect(JSON.stringify(keys)).not.toContain(key);
  });

  it('takes a code once', async () => {
    const scene = await makeApiScene({ reads: 'token' });
    const code = await scene.pulse.access.createCode('operate');
    const both = await Promise.all([login(scene, { code }), login(scene, { code })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
    const { key } = both.find(({ status }) => status === 201)!;
    expect((await scene.ask('GET', '/api/pulse', { headers: bearer(key) })).status).toBe(200);
    expect((await login(scene, { code })).json.error).toMatchObject({ code: 'unauthorized' });
  });

  it('takes no code that is ten minutes old', async () => {
    const scene = await makeApiScene();
    const code = await scene.pulse.access.createCode('operate');
    await scene.store.tx('test', (db) =>
      db.updateTable('login_codes').set({ expires_at: '2020-01-01T00:00:00.000Z' }).execute(),
    );
    expect((await login(scene, { code })).status).toBe(401);
  });

  it.each([
    [{}, 422],
    [{ token: TOKEN, code: 'x' }, 422],
    [{ token: TOKEN, name: '<script>' }, 422],
    [{ token: TOKEN, scope: 'admin' }, 422],
    [{ token: 'wrong' }, 401],
    [{ code: 'wrong' }, 401],
  ])('with %j is refused with %i and makes nothing', async (body, status) => {
    const scene = await makeApiScene();
    expect((await login(scene, body)).status).toBe(status);
    expect((await scene.ask('GET', '/api/keys')).json.keys).toEqual([]);
  });

  it('is throttled, and the right token still gets in', async () => {
    const scene = await makeApiScene();
    for (let n = 0; n < 10; n++) await login(scene, { code: `wrong-${n}` });
    expect(await login(scene, { token: 'wrong' })).toMatchObject({ status: 429 });
    expect((await login(scene, { token: TOKEN })).status).toBe(201);
  });

  it('is not for pages of other origins', async () => {
    const scene = await makeApiScene();
    const headers = { host: 'localhost:3002', origin: 'http://localhost:5173' };
    const answer = await scene.ask('POST', '/api/login', {
      body: { token: TOKEN },
      isStranger: true,
      headers,
    });
    expect(answer.status).toBe(403);
  });

  it('tells a page who it is', async () => {
    const scene = await makeApiScene({ reads: 'token' });
    const who = async (headers = {}) => (await scene.ask('GET', '/api/login', { headers })).json;
    expect(await who()).toEqual({ device: null, isTokenNeeded: true, mayRead: false, mayChange: false });
    expect(await who(bearer(TOKEN))).toMatchObject({ device: null, mayRead: true, mayChange: true });
    const { key, device } = await login(scene, { token: TOKEN, scope: 'read' });
    expect(await who(bearer(key))).toMatchObject({
      device: { id: device.id },
      mayRead: true,
      mayChange: false,
    });
  });
});

describe('a key', () => {
  it('for reading changes nothing, by any route', async () => {
    const scene = await makeApiScene({ reads: 'token' });
    const { id } = await scene.post('true');
    const code = await scene.pulse.access.createCode('read');
    const { key, device } = await login(scene, { code, scope: 'operate' });
    expect(device.scopes).toEqual(['read']);
    const as = { isStranger: true, headers: bearer(key) };
    expect((await scene.ask('GET', `/api/pulse/${id}`, as)).status).toBe(200);
    const { paths } = (await scene.ask('GET', '/openapi.json', as)).json;
    const changes = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'get')
        .map((method) => [method.toUpperCase(), path.replace('{id}', id)] as const),
    );
    expect(changes.length).toBeGreaterThan(20);
    const open = ['/api/login', '/api/tickets'];
    for (const [method, path] of changes.filter(([, path]) => !open.includes(path)))
      expect([method, path, (await scene.ask(method, path, { ...as, body: {} })).status]).toEqual([
        ...[method, path, 403],
      ]);
  });

  it('is refused once it is revoked', async () => {
    const scene = await makeApiScene();
    const { key, device } = await login(scene, { token: TOKEN });
    const other = await login(scene, { token: TOKEN });
    expect(other.device.name).toBe('browser 2');
    expect((await scene.ask('DELETE', `/api/keys/${device.id}`, { isStranger: true })).status).toBe(401);
    const as = { isStranger: true, headers: bearer(other.key) };
    expect(await scene.ask('DELETE', `/api/keys/${device.id}`, as)).toMatchObject({
      status: 200,
      json: { key: { id: device.id } },
    });
    expect((await scene.ask('GET', '/api/pulse', { headers: bearer(key) })).status).toBe(401);
    expect((await scene.ask('GET', '/api/pulse', { headers: bearer(other.key) })).status).toBe(200);
    expect((await scene.ask('DELETE', `/api/keys/${device.id}`, as)).status).toBe(404);
  });

  it('that is revoked ends what it follows', async () => {
    const scene = await makeApiScene({ heartbeatMs: 60_000 });
    const { id } = await scene.post('true');
    const { key, device } = await login(scene, { token: TOKEN });
    const answer = await scene.app.request(`/api/pulse/${id}/events?after=1`, { headers: bearer(key) });
    const reader = answer.body!.getReader();
    const read = reader.read();
    await scene.ask('DELETE', `/api/keys/${device.id}`);
    expect(await read).toMatchObject({ done: true });
  });

  it('is stored as a hash alone', async () => {
    const scene = await makeApiScene();
    const code = await scene.pulse.access.createCode('operate');
    const stored = async () =>
      JSON.stringify(
        await scene.store.read(async (db) => [
          await db.selectFrom('login_codes').selectAll().execute(),
          await db.selectFrom('device_keys').selectAll().execute(),
        ]),
      );
    expect(await stored()).not.toContain(code);
    const { key } = await login(scene, { code });
    expect(await stored()).not.toContain(key.slice(3));
  });
});

describe('a ticket', () => {
  it('opens one address for a short while, as a download', async () => {
    const scene = await makeApiScene({ reads: 'token' });
    const { id } = await scene.post('true');
    const { key, device } = await login(scene, { token: TOKEN, scope: 'read' });
    const path = `/api/pulse/${id}/history?limit=5`;
    const as = { isStranger: true, headers: bearer(key) };
    const { status, json } = await scene.ask('POST', '/api/tickets', { ...as, body: { path } });
    expect(status).toBe(201);
    const download = await scene.ask('GET', json.url);
    expect(download.status).toBe(200);
    expect(download.headers.get('content-disposition')).toBe('attachment');
    const ticket = new URL(json.url, 'http://x').searchParams.get('ticket')!;
    for (const other of [
      `/api/pulse/${id}/history?limit=6`,
      '/api/pulse?limit=5',
      `/api/pulse/${id}?limit=5`,
    ])
      expect((await scene.ask('GET', `${other}&ticket=${ticket}`)).status).toBe(401);
    expect(
      (await scene.ask('POST', `/api/pulse/${id}/abort?ticket=${ticket}`, { isStranger: true })).status,
    ).toBe(401);
    await scene.ask('DELETE', `/api/keys/${device.id}`);
    expect((await scene.ask('GET', json.url)).status).toBe(401);
  });

  it('is void after a minute, and is given to nobody who may not ask', async () => {
    let now = 1_000;
    const tickets = createTickets(() => now);
    const { url } = tickets.issue('/api/pulse?limit=1', STRANGER);
    const asked = new URL(url, 'http://x');
    expect(tickets.redeem(asked)).toBe(STRANGER);
    now += 60_000;
    expect(tickets.redeem(asked)).toBeNull();
    const { ask } = await makeApiScene();
    const body = { path: '/api/pulse' };
    expect((await ask('POST', '/api/tickets', { body, isStranger: true })).status).toBe(401);
    for (const path of ['/metrics', 'http://evil.example/', '//evil.example/api/', '/api/../metrics#'])
      expect((await ask('POST', '/api/tickets', { body: { path } })).status).toBe(422);
  });
});
