import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import { createAuthThrottle } from '../../src/api/auth-throttle.ts';
import { isPulseError } from '../../src/domain/errors.ts';
import { makeApiScene, TOKEN, TRUSTED } from './scene.ts';

describe('Host', () => {
  it.each(['localhost', 'LOCALHOST:3002', '127.0.0.1', '127.0.0.1:80', '[::1]', '[::1]:3002'])(
    'may be %s',
    async (host) => {
      const { ask } = await makeApiScene();
      expect(await ask('GET', '/api/pulse', { headers: { host } })).toMatchObject({ status: 200 });
    },
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    'localhost@evil.example',
    'evil.example:3002',
    '127.0.0.2',
    '192.168.0.7',
    '[::2]',
    'localhost:',
    'localhost/x',
    'a b',
  ])('may not be %s, even with the token', async (host) => {
    const { ask } = await makeApiScene();
    for (const path of ['/api/pulse', '/api/health', '/metrics', '/openapi.json', '/nothing']) {
      expect(await ask('GET', path, { headers: { ...TRUSTED, host } })).toMatchObject({
        status: 403,
        json: { error: { code: 'forbidden' } },
      });
    }
  });

  it('may be the name it was told to listen on', async () => {
    const { ask } = await makeApiScene({ host: 'pulse.example' });
    const host = 'pulse.example:3002';
    expect(await ask('GET', '/api/pulse', { headers: { ...TRUSTED, host } })).toMatchObject({ status: 200 });
  });
});

describe('Origin', () => {
  const host = 'localhost:3002';

  it.each(['http://localhost:3002', 'http://127.0.0.1:3002', 'http://[::1]:3002'])(
    'may be %s',
    async (origin) => {
      const { ask } = await makeApiScene();
      expect(await ask('GET', '/api/pulse', { headers: { host, origin } })).toMatchObject({ status: 200 });
    },
  );

  it.each([
    'null',
    '',
    'http://evil.example',
    'http://localhost:5173',
    'http://localhost',
    'file://localhost:3002',
  ])('may not be "%s": nothing happens', async (origin) => {
    const { ask, root, handed } = await makeApiScene();
    const body = { goal: 'g', projectPath: root, agent: 'demo' };
    const answer = await ask('POST', '/api/pulse/start', { body, headers: { ...TRUSTED, host, origin } });
    expect(answer).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } });
    expect(handed).toEqual([]);
  });
});

describe('a page of another origin', () => {
  const asked = (site: string, mode: string, dest: string) => ({
    'sec-fetch-site': site,
    'sec-fetch-mode': mode,
    'sec-fetch-dest': dest,
  });

  it.each(['same-site', 'cross-site'])(
    'gets nothing by picture, script, frame or socket (%s)',
    async (site) => {
      const { ask } = await makeApiScene();
      for (const [mode, dest] of [
        ['no-cors', 'image'],
        ['no-cors', 'script'],
        ['cors', 'empty'],
        ['navigate', 'iframe'],
        ['websocket', 'websocket'],
      ] as const) {
        for (const path of [
          '/api/pulse',
          '/api/live',
          '/api/health',
          '/openapi.json',
          '/metrics',
          '/',
          '/mcp',
        ])
          expect(
            await ask('GET', path, { headers: { ...TRUSTED, ...asked(site, mode, dest) } }),
          ).toMatchObject({
            status: 403,
            json: { error: { code: 'forbidden' } },
          });
      }
    },
  );

  it('may link to a page of ours, and to nothing else', async () => {
    const { ask } = await makeApiScene();
    const link = asked('cross-site', 'navigate', 'document');
    // The page itself is not part of this scene: it is looked for.
    expect((await ask('GET', '/s/ses_1', { headers: link })).status).toBe(404);
    expect((await ask('GET', '/api/pulse', { headers: link })).status).toBe(403);
    for (const site of ['same-origin', 'none'])
      expect((await ask('GET', '/api/pulse', { headers: asked(site, 'cors', 'empty') })).status).toBe(200);
  });
});

describe('the token', () => {
  it('is not needed on loopback to look', async () => {
    const { ask, post } = await makeApiScene();
    const { id } = await post('true');
    for (const path of ['/api/pulse', `/api/pulse/${id}`, '/metrics', '/openapi.json', '/api/health']) {
      expect([path, (await ask('GET', path)).status]).toEqual([path, 200]);
    }
  });

  it('is needed for every change, on loopback too, as the document says', async () => {
    const { ask, post, handed, events } = await makeApiScene();
    const { id } = await post('true');
    const { paths } = (await ask('GET', '/openapi.json')).json;
    const before = await events({ id });
    let changes = 0;
    for (const [path, methods] of Object.entries<Record<string, { security?: object[] }>>(paths)) {
      for (const [method, { security }] of Object.entries(methods)) {
        // Who signs in shows the token or a code in the body.
        if (method === 'post' && path === '/api/login') continue;
        const isReading = method === 'get';
        expect([method, path, security]).toEqual([method, path, isReading ? undefined : [{ token: [] }]]);
        if (isReading) continue;
        changes += 1;
        const asked = path.replace('{id}', id);
        for (const body of [undefined, {}, '{']) {
          expect(await ask(method.toUpperCase(), asked, { body, isStranger: true })).toMatchObject({
            status: 401,
            json: {
              error: { code: 'unauthorized', message: `${method.toUpperCase()} ${asked} needs the token.` },
            },
          });
        }
      }
    }
    expect(changes).toBeGreaterThan(10);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await ask(method, '/api/nothing', { isStranger: true })).status).toBe(401);
    }
    expect(await events({ id })).toEqual(before);
    expect(handed).toEqual([id]);
  });

  it('is needed to look as well where `reads` says so', async () => {
    const { ask } = await makeApiScene({ reads: 'token' });
    for (const path of ['/api/pulse', '/metrics', '/openapi.json']) {
      expect((await ask('GET', path)).status).toBe(401);
      expect((await ask('GET', path, { headers: TRUSTED })).status).toBe(200);
    }
    expect((await ask('GET', '/api/health')).status).toBe(200);
  });

  it.each(['Bearer wrong', `Bearer ${TOKEN}x`, `Bearer  `, `Basic ${TOKEN}`, TOKEN])(
    'is refused when it is "%s", even where none is needed',
    async (authorization) => {
      const { ask } = await makeApiScene();
      expect(await ask('GET', '/api/pulse', { headers: { authorization } })).toMatchObject({ status: 401 });
    },
  );

  it.each(['0.0.0.0', '::', '192.168.0.7', 'pulse.example'])(
    'is needed for everything but health when listening on %s',
    async (host) => {
      const { ask } = await makeApiScene({ host });
      for (const path of ['/api/pulse', '/metrics', '/openapi.json', '/api/pulse/x/events', '/nothing']) {
        expect(await ask('GET', path)).toMatchObject({ status: 401 });
      }
      expect(await ask('GET', '/api/health')).toMatchObject({ status: 200 });
      expect(await ask('GET', '/api/pulse', { headers: TRUSTED })).toMatchObject({ status: 200 });
    },
  );

  it('may be wrong ten times a minute; the right one still opens', async () => {
    const { ask } = await makeApiScene();
    const headers = { authorization: 'Bearer wrong' };
    for (let i = 0; i < 10; i++)
      expect(await ask('GET', '/api/pulse', { headers })).toMatchObject({ status: 401 });
    const answer = await ask('GET', '/api/pulse', { headers });
    expect(answer).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await ask('GET', '/api/pulse', { headers: TRUSTED })).toMatchObject({ status: 200 });
  });

  it('may be tried again after a minute, and by others at once', () => {
    let now = 0;
    const attempts = createAuthThrottle(() => now);
    const codeFor = (address: string): string => {
      try {
        return attempts.refuse(address);
      } catch (error) {
        return isPulseError(error) ? error.code : 'unexpected';
      }
    };
    for (let i = 0; i < 10; i++) expect(codeFor('a')).toBe('unauthorized');
    expect(codeFor('a')).toBe('rate_limited');
    expect(codeFor('b')).toBe('unauthorized');
    now = 61_000;
    expect(codeFor('a')).toBe('unauthorized');
  });
});

it('tells browsers to keep no answer, and to take it for nothing else', async () => {
  const { ask } = await makeApiScene();
  for (const path of ['/api/pulse', '/api/pulse/ses_0', '/nothing', '/openapi.json', '/metrics']) {
    const { headers } = await ask('GET', path);
    expect([headers.get('cache-control'), headers.get('x-content-type-options')], path).toEqual([
      'no-store',
      'nosniff',
    ]);
  }
});

it('shows nothing of an unexpected failure but its message, and tells the server', async () => {
  const told: unknown[] = [];
  const { pulse } = await makeApiScene();
  const broken = { ...pulse, call: () => Promise.reject(new Error('boom API_KEY=abcdef123456')) };
  const app = createApi({
    pulse: broken,
    token: TOKEN,
    runSession: () => undefined,
    onFailure: (error) => told.push(error),
  });
  const answer = await app.request('/api/pulse');
  expect(answer.status).toBe(500);
  expect(await answer.json()).toEqual({
    error: { code: 'internal_error', message: 'boom API_KEY=[redacted]', hint: null, details: {} },
  });
  expect(told).toHaveLength(1);
});
