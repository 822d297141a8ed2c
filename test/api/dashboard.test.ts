/** What a page asks, without a port. The store's contract has the filters and pages themselves. */
import { describe, expect, it } from 'vitest';
import { makeApiScene, TRUSTED } from './scene.ts';

describe('views of one address', () => {
  it('are cards where they are asked for, and whole sessions where not', async () => {
    const { ask, post } = await makeApiScene();
    const { id } = await post('true', { goal: 'Write a parser' });
    const whole = await ask('GET', '/api/pulse');
    expect(whole.json.sessions).toMatchObject([{ id, progress_log: [] }]);
    expect(whole.json.sessions[0]).not.toHaveProperty('attention');
    const cards = await ask('GET', '/api/pulse?view=card&attention=no_runner&q=parser&since=2020-01-01');
    expect(cards).toMatchObject({
      status: 200,
      json: { sessions: [{ id, attention: 'no_runner', runner: 'none', now: null }], nextCursor: null },
    });
    expect(cards.json.sessions[0]).not.toHaveProperty('progress_log');
    expect((await ask('GET', '/api/pulse?view=card&q=lexer')).json.sessions).toEqual([]);
    expect((await ask('GET', '/api/pulse?view=')).json.sessions[0]).toHaveProperty('progress_log');
    const head = await ask('GET', `/api/pulse/${id.slice(-6)}?view=head`);
    expect(head).toMatchObject({ status: 200, json: { session: { id }, iterations: 0, lastSeq: 1 } });
    expect(head.json.iterations).toBe(0);
    expect((await ask('GET', `/api/pulse/${id}`)).json.iterations).toEqual([]);
  });

  it('stand in /openapi.json under one path, with the parameters of all', async () => {
    const { ask } = await makeApiScene();
    const { paths, components } = (await ask('GET', '/openapi.json')).json;
    const { parameters, responses } = paths['/api/pulse'].get;
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['status', 'limit', 'cursor', 'view', 'attention', 'q', 'since', 'parent']),
    );
    expect(responses['200'].content['application/json'].schema.anyOf).toHaveLength(2);
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['Card', 'Session', 'IterationHead']),
    );
  });

  it.each([
    ['/api/pulse?view=tiles', 422],
    ['/api/pulse?view=card&attention=everything', 422],
    ['/api/pulse?view=card&since=yesterday', 422],
    ['/api/pulse?view=card&since=2026-13-41', 422],
    ['/api/pulse?view=card&parent=ses_0', 404],
    ['/api/pulse/ses_0?view=head', 404],
    ['/api/pulse/ses_0/iterations', 404],
    ['/api/pulse/ses_0/history', 404],
  ])('%s is refused with %i', async (path, status) => {
    const { ask } = await makeApiScene();
    expect((await ask('GET', path)).status).toBe(status);
  });
});

describe('a session by pages', () => {
  it('has its iterations and its events', async () => {
    const { ask, post, run } = await makeApiScene();
    const script = 'echo $PULSE_ITERATION >> steps; echo "<signal>CONTINUE</signal>"';
    const { id } = await run(await post(script, { maxIterations: 3 }));
    const { json } = await ask('GET', `/api/pulse/${id}/iterations?limit=2`);
    expect(json).toMatchObject({
      iterations: [{ iteration_number: 3 }, { iteration_number: 2, files_changed: ['steps'] }],
      nextBefore: 2,
    });
    expect(json.iterations[0]).not.toHaveProperty('output_full');
    const settled = await ask('GET', `/api/pulse/${id}/history?types=iteration.settled,session.*&limit=3`);
    const { events, nextBefore, lastSeq } = settled.json;
    expect(events.at(-1)).toMatchObject({ type: 'session.blocked' });
    expect(events.map(({ seq }: { seq: number }) => seq)).toEqual(
      events.map(({ seq }: { seq: number }) => seq).toSorted((a: number, b: number) => a - b),
    );
    expect(nextBefore).toBe(events[0].seq);
    expect(lastSeq).toBe((await ask('GET', `/api/pulse/${id}?view=head`)).json.lastSeq);
    const none = await ask('GET', `/api/pulse/${id}/history?before=2&after=1`);
    expect(none).toMatchObject({ status: 422, json: { error: { code: 'invalid_input' } } });
  });
});

describe('what a browser is told', () => {
  const CSP =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  it.each(['/', '/api/pulse', '/api/nothing', '/openapi.json', '/metrics', '/login'])(
    'stands in the answer to %s',
    async (path) => {
      const { ask } = await makeApiScene();
      const { headers } = await ask('GET', path);
      expect(headers.get('content-security-policy')).toBe(CSP);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    },
  );

  it('lets the page through without the token, and nothing else, where reading needs it', async () => {
    const { ask } = await makeApiScene({ reads: 'token' });
    for (const path of ['/', '/login', '/s/ses_1/i/3', '/w/ses_1/review', '/sw/x', '/assets/main-1a2b.js'])
      expect((await ask('GET', path)).status).toBe(404); // it is not built here; it would be served
    for (const path of ['/api/pulse', '/metrics', '/openapi.json', '/api/login.js', '/assetsx', '/sx', '/x'])
      expect((await ask('GET', path)).status).toBe(401);
    expect((await ask('POST', '/login', { isStranger: true })).status).toBe(401);
    expect((await ask('GET', '/', { headers: { ...TRUSTED, host: 'evil.example' } })).status).toBe(403);
  });
});
