import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPLETE } from '../engine/scene.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { EventReader } from './event-reader.ts';
import { type ApiScene, makeApiScene, TRUSTED } from './scene.ts';

describe('the API on PostgreSQL', () => {
  let postgres: SharedPostgres;
  beforeAll(async () => {
    postgres = await sharePostgres();
  }, 60_000);
  afterAll(() => postgres[Symbol.asyncDispose]());

  const makePostgresScene = async (): Promise<ApiScene> =>
    makeApiScene({ environment: { PULSE_DATABASE_URL: await postgres.createDatabase() } });

  it('admits one session for twenty identical requests at once, and answers all alike', async () => {
    const { ask, root, handed } = await makePostgresScene();
    const headers = { ...TRUSTED, 'idempotency-key': 'k1' };
    const start = (goal: string) =>
      ask('POST', '/api/pulse/start', { body: { goal, projectPath: root, agent: 'demo' }, headers });
    const answers = await Promise.all(Array.from({ length: 20 }, () => start('g')));
    expect(new Set(answers.map(({ status, json }) => `${status} ${JSON.stringify(json)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect(await start('g')).toMatchObject({ status: 201, json: answers[0]!.json });
    expect(await start('other')).toMatchObject({ status: 409 });
    expect((await ask('GET', '/api/pulse')).json.sessions).toHaveLength(1);
    expect(handed).toHaveLength(1);
  });

  it('shows, counts and streams as on SQLite', async () => {
    const scene = await makePostgresScene();
    const { ask, post, run, app, pulse } = scene;
    const session = await post(`echo x > x.txt; ${COMPLETE}`, { verify: ['true'] });
    const stream = await app.request(`/api/pulse/${session.id}/events`);
    const [messages] = await Promise.all([new EventReader(stream.body!).all(), run(session)]);
    expect(messages.map(({ id }) => id)).toEqual(messages.map((_, index) => index + 1));
    expect((await ask('GET', `/api/pulse/${session.id}`)).json).toMatchObject({
      session: { status: 'complete', verify: ['true'] },
      iterations: [{ files_changed: ['x.txt'] }],
    });
    expect((await ask('GET', `/api/pulse/${session.id}/iterations/1`)).json.verifications).toHaveLength(1);
    expect((await ask('GET', '/metrics')).json).toContain('pulse_iterations_settled_total 1\n');
    expect((await ask('GET', '/api/projects')).json.projects).toMatchObject([{ sessions: 1, open: 0 }]);
    expect((await ask('GET', '/api/figures?by=kind')).json.rows).toMatchObject([
      { key: 'goal', sessions: 1, verified: 1, iterations: 1 },
    ]);
    const found = (await ask('GET', '/api/search?q=X.txt')).json;
    expect(found.files).toMatchObject([{ sessionId: session.id, path: 'x.txt' }]);
    expect(found).toMatchObject({ mail: [], beads: [] });
    expect(await pulse.figures()).toMatchObject({ sessions: { complete: 1 }, iterationsSettled: 1 });
  });

  it('knows nothing by a name that it cannot hold', async () => {
    const { ask } = await makePostgresScene();
    for (const path of ['pulse', 'workflows', 'research', 'turns', 'context/slices', 'beads'])
      expect(await ask('GET', `/api/${path}/a%00b?project_key=x-00000000`), path).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found' } },
      });
  });

  it('keeps what each serve has in hand apart', async () => {
    const { pulse, start } = await makePostgresScene();
    const [one, other] = [await start(COMPLETE), await start(COMPLETE)];
    const [mine, theirs] = [pulse.servedSessions('mine'), pulse.servedSessions('theirs')];
    await mine.takeOver(one.id);
    await theirs.takeOver(other.id);
    expect([await mine.list(), await theirs.list()]).toEqual([[one.id], [other.id]]);
    await mine.letGo(one.id);
    expect(await mine.list()).toEqual([]);
  });
});
