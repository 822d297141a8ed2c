/** Research over HTTP, on real repositories, with a shell agent whose ideas are measured. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { type Answer, type ApiScene, makeApiScene, TRUSTED } from './scene.ts';

const UNKNOWN = 'ses_00000000-0000-7000-8000-000000000000';
const RESEARCH = {
  goal: 'Lower the cost',
  metric: { name: 'cost', direction: 'lower', verifyCommand: 'cat src/cost', min_delta: '2%' },
  scope: { inScope: ['src/**'] },
  strategy: ['use a cache'],
  timeout: '1m',
};
const AGENT = `cat > /dev/null; echo "Idea of $PULSE_UNIT"
case "$PULSE_UNIT" in exp-1) echo 90 > src/cost;; *) echo 95 > src/cost;; esac`;

async function lab(): Promise<ApiScene> {
  const scene = await makeApiScene();
  mkdirSync(join(scene.root, 'src'));
  writeFileSync(join(scene.root, 'src/cost'), '100\n');
  scene.sh(scene.root, 'add', '-A');
  scene.sh(scene.root, 'commit', '-q', '-m', 'chore: cost');
  return scene;
}

const start = (
  scene: ApiScene,
  body: object = {},
  call: { isStranger?: boolean; headers?: Record<string, string> } = {},
): Promise<Answer> =>
  scene.ask('POST', '/api/research', {
    body: { research: RESEARCH, projectPath: scene.root, command: AGENT, iterations: 2, ...body },
    ...call,
  });

async function driven(scene: ApiScene): Promise<string> {
  const { status, json } = await start(scene);
  expect(status, JSON.stringify(json)).toBe(201);
  await scene.run({ id: json.sessionId });
  return json.sessionId;
}

describe('research over HTTP', () => {
  it('is started, shown, reported and finished, with its tasks and messages', async () => {
    const scene = await lab();
    const { ask, handed, root } = scene;
    const started = await start(scene, { budgetUsd: 2, branch: 'cheaper' });
    expect(started.status, JSON.stringify(started.json)).toBe(201);
    const { sessionId: id, session, research } = started.json;
    expect(session).toMatchObject({
      id,
      kind: 'research',
      goal: 'Lower the cost',
      branch_name: 'cheaper',
      created_by: 'api',
    });
    expect(research).toMatchObject({
      sessionId: id,
      content: RESEARCH,
      phase: 'researching',
      iterations: 2,
      baseline: null,
    });
    expect(handed).toEqual([id]);
    const early = (await ask('GET', `/api/research/${id}`)).json;
    expect(early).toMatchObject({ experiments: [], progress: { baseline: null, metric: null }, final: [] });
    expect(await ask('GET', `/api/research/${id}/report`)).toMatchObject({ status: 409 });

    expect((await scene.run({ id })).stop_reason).toBe('iteration_limit');
    const { json: view } = await ask('GET', `/api/research/${id.slice(0, 20)}`);
    expect(Object.keys(view)).toEqual(['session', 'research', 'experiments', 'progress', 'final']);
    expect(view.experiments).toMatchObject([
      { number: 1, status: 'keep', metric: 90, delta: -10, decision: { verdict: 'keep' }, runs: 1 },
      { number: 2, status: 'discard', metric: 95, delta: 5 },
    ]);
    expect(view.progress).toMatchObject({ baseline: 100, metric: 90, keeps: 1, discards: 1 });
    expect(view.final).toContain('Baseline: 100 -> Final: 90 (-10)');
    const report = await ask('GET', `/api/research/${id}/report`);
    expect(report.headers.get('content-type')).toContain('text/html');
    expect(report.json).toContain('<title>Autoresearch Complete: Lower the cost</title>');

    const { json: board } = await ask('GET', `/api/research/${id}/tasks`);
    expect(board.tasks).toMatchObject([
      {
        experiment: 1,
        status: 'completed',
        description: 'Iteration #1: Idea of exp-1',
        comments: [{ number: 1 }],
      },
      { experiment: 2, status: 'completed', result: 'discard: Idea of exp-2. Metric: 90 → 95 (delta: +5)' },
    ]);
    const { json: mailbox } = await ask('GET', `/api/research/${id}/mailbox`);
    expect(mailbox.messages).toMatchObject([{ message_type: 'result', to_agent: 'commander' }]);

    const finish = () =>
      ask('POST', `/api/research/${id}/finish`, { body: { how: 'implement' }, headers: TRUSTED });
    expect((await finish()).json.error.code).toBe('invalid_config');
    const facts = { git: '2', worktrees: true, agents: [], sandbox: false };
    await writeOnboarding(root, { at: '2026-01-01T00:00:00.000Z', found: facts });
    const finished = await finish();
    expect(finished.status, JSON.stringify(finished.json)).toBe(202);
    expect(finished.json.research).toMatchObject({ phase: 'implementing', finishedBy: 'api' });
    const { swarm } = finished.json.implementation;
    expect(finished.json.research.implementation).toContain(swarm);
    expect(finished.json.session).toEqual(view.session);
    expect(handed).toEqual([id, swarm]);
    expect((await ask('GET', `/api/swarms/${swarm}`)).json.beads).toMatchObject([
      { status: 'open' },
      { status: 'open' },
    ]);
  }, 60_000);

  it('needs the token to be started and to be finished; looking needs none', async () => {
    const scene = await lab();
    const { ask } = scene;
    expect(await start(scene, { command: undefined }, { isStranger: true })).toMatchObject({
      status: 401,
      json: { error: { code: 'unauthorized' } },
    });
    expect((await scene.pulse.list({})).sessions).toEqual([]);
    const { json } = await start(scene);
    const id = json.sessionId;
    const finish = await ask('POST', `/api/research/${id}/finish`, {
      body: { how: 'done' },
      isStranger: true,
    });
    expect(finish.status).toBe(401);
    expect((await ask('GET', `/api/research/${id}`)).json.research.phase).toBe('researching');
    for (const path of ['', '/tasks', '/mailbox']) {
      expect((await ask('GET', `/api/research/${id}${path}`)).status).toBe(200);
    }
  });

  it('tells every fault of the file, creates nothing then, and knows its own sessions', async () => {
    const scene = await lab();
    const { ask } = scene;
    const wrong = {
      ...RESEARCH,
      goal: ' ',
      metric: { ...RESEARCH.metric, direction: 'up', pattern: '(' },
      more: 1,
    };
    const { status, json } = await start(scene, { research: wrong });
    expect(status).toBe(422);
    const told = JSON.stringify(json.error.details.violations);
    for (const part of ['goal', 'direction', 'pattern', 'more']) expect(told).toContain(part);
    expect((await start(scene, { research: { ...RESEARCH, goal: 'a\ud800' } })).status).toBe(422);
    expect((await scene.pulse.list({})).sessions).toEqual([]);
    expect((await ask('GET', `/api/research/${UNKNOWN}`)).status).toBe(404);
    const goal = await scene.post('true');
    for (const path of ['', '/report', '/tasks', '/mailbox']) {
      expect(await ask('GET', `/api/research/${goal.id}${path}`)).toMatchObject({
        status: 422,
        json: { error: { message: expect.stringContaining('is no research') } },
      });
    }
    for (const body of [{}, { how: 'all' }, { how: 'done', more: 1 }]) {
      expect((await ask('POST', `/api/research/${goal.id}/finish`, { body, headers: TRUSTED })).status).toBe(
        422,
      );
    }
  });

  it('has its effect once for one key, and refuses the key for another request', async () => {
    const scene = await lab();
    const { ask } = scene;
    const keyed = { headers: { 'idempotency-key': 'once' } };
    const [first, second] = await Promise.all([start(scene, {}, keyed), start(scene, {}, keyed)]);
    expect(first.json.sessionId).toBe(second.json.sessionId);
    expect((await scene.pulse.list({})).sessions).toHaveLength(1);
    expect((await start(scene, { iterations: 3 }, keyed)).status).toBe(409);

    const id = await driven(scene);
    const finish = (how: string) =>
      ask('POST', `/api/research/${id}/finish`, {
        body: { how },
        headers: { ...TRUSTED, 'idempotency-key': 'end' },
      });
    const done = await finish('done');
    expect(done.json.research.phase).toBe('complete');
    await ask('POST', `/api/research/${id}/finish`, { body: { how: 'pause' }, headers: TRUSTED });
    expect((await finish('done')).json).toEqual(done.json);
    expect((await ask('GET', `/api/research/${id}`)).json.research.phase).toBe('paused');
    expect((await finish('pause')).status).toBe(409);
  }, 60_000);
});
