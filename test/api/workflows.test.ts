/** Workflows over HTTP, on real repositories, with shell agents that speak by `pulse tool`. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createApi } from '../../src/api/api.ts';
import { COMPLETE, until } from '../engine/scene.ts';
import { type Answer, type ApiScene, makeApiScene, TOKEN, TRUSTED } from './scene.ts';

const UNKNOWN = 'ses_00000000-0000-7000-8000-000000000000';
const PLAN = {
  title: 'Greet people',
  approach: 'One file each.',
  pulses: [
    { id: 'one', title: 'Hello', description: 'Say hello.' },
    { id: 'two', title: 'Bye', description: 'Say bye.', dependsOn: ['one'] },
  ],
};
const ONE = { ...PLAN, pulses: PLAN.pulses.slice(0, 1) };
const done = (summary: string, ...filesChanged: string[]) =>
  `pulse tool pulse_done '${JSON.stringify({ summary, filesChanged })}'`;
const AGENT = `cat > /dev/null
case "$PULSE_UNIT" in
one) echo hello > hello.txt; ${done('feat: say hello', 'hello.txt')};;
two) echo bye > bye.txt; ${done('feat: say bye', 'bye.txt')};;
review-1) echo more > more.txt; ${done('fix: say more', 'more.txt')};;
esac`;
const EXTENDS = `cat > /dev/null
if [ -f half ]; then echo rest > rest; ${done('feat: all', 'half', 'rest')}; else echo half > half; pulse tool request_extension '{"reason": "long", "completed": ["half"], "remaining": ["rest"]}'; fi`;

const start = (scene: ApiScene, body: Record<string, unknown> = {}, headers: object = {}): Promise<Answer> =>
  scene.ask('POST', '/api/workflows', {
    body: { plan: PLAN, projectPath: scene.root, command: AGENT, ...body },
    headers: { ...TRUSTED, ...headers },
  });

/** A trusted POST below the workflow. */
const post = (scene: ApiScene, path: string, body?: unknown, headers: object = {}): Promise<Answer> =>
  scene.ask('POST', `/api/workflows/${path}`, { body, headers: { ...TRUSTED, ...headers } });

/** Started and driven until it stops. */
async function driven(scene: ApiScene, body: Record<string, unknown> = {}): Promise<string> {
  const { status, json } = await start(scene, { approve: true, ...body });
  expect(status, JSON.stringify(json)).toBe(201);
  await scene.run({ id: json.sessionId });
  return json.sessionId;
}

describe('a workflow over HTTP', () => {
  it('goes from a plan over approval and review to the merge, each decision with its actor', async () => {
    const scene = await makeApiScene();
    const { ask, run, handed, root, sh, events } = scene;
    const started = await start(scene, { extensions: 'ask', budgetUsd: 2, timeLimit: '1h', branch: 'greet' });
    expect(started.status).toBe(201);
    const { sessionId: id, session, workflow, pulses } = started.json;
    expect(session).toMatchObject({
      id,
      kind: 'workflow',
      goal: 'Greet people',
      branch_name: 'greet',
      budget_usd: 2,
      time_limit_ms: 3_600_000,
      created_by: 'api',
    });
    expect(workflow).toMatchObject({
      sessionId: id,
      plan: PLAN,
      planVersion: 0,
      approvedAt: null,
      extensions: 'ask',
      checks: [],
      mergedSha: null,
    });
    expect(pulses).toMatchObject([
      { plannedPulseId: 'one', status: 'proposed', hasUnresolvedIssues: false },
      { plannedPulseId: 'two', status: 'proposed', isRecoveryCheckpoint: false },
    ]);
    expect((await run({ id })).stop_reason).toBe('approval_required');

    const approved = await post(scene, `${id}/approve`);
    expect(approved).toMatchObject({ status: 202, json: { session: { id, status: 'running' } } });
    expect(handed).toEqual([id, id]);
    expect((await run({ id })).stop_reason).toBe('approval_required');
    const { json: view } = await ask('GET', `/api/workflows/${id.slice(0, 20)}`);
    expect(Object.keys(view)).toEqual(['session', 'trust', 'workflow', 'pulses', 'preflight']);
    expect(view.workflow).toMatchObject({ planVersion: 1, approvedBy: 'api' });
    expect(view.preflight).toMatchObject({ channelId: id, status: 'completed', buildSuccess: true });
    expect(view.pulses[1]).toMatchObject({
      workflowId: workflow.id,
      status: 'succeeded',
      description: 'feat: say bye',
      checkpointCommitSha: sh(root, 'rev-parse', 'greet'),
      pulseBranch: 'greet--two',
      initiatingMessageId: expect.any(String),
      runs: 1,
      rejections: 0,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
      failureReason: null,
    });

    const reviewed = await post(scene, `${id}/review`, { approve: true });
    const sha = sh(root, 'rev-parse', 'greet');
    expect(reviewed).toMatchObject({
      status: 202,
      json: { merged: { base: 'main', sha }, said: `main is at ${sha.slice(0, 10)} now.` },
    });
    expect(await run({ id })).toMatchObject({ status: 'complete' });
    expect(sh(root, 'log', '--format=%s', 'main').split('\n').slice(0, 2)).toEqual([
      'feat: say bye',
      'feat: say hello',
    ]);
    expect((await ask('GET', `/api/workflows/${id}`)).json.workflow).toMatchObject({
      reviewedBy: 'api',
      mergedSha: sha,
    });
    const resolved = (await events({ id })).filter(({ type }) => type === 'PlanCardResolved');
    expect(resolved.map(({ data }) => data)).toMatchObject([{ resolution: 'approved', actor: 'api' }]);
  });

  it('begins with a goal too: an agent drafts the plan, which waits for approval', async () => {
    const scene = await makeApiScene();
    const drafts = `cat > /dev/null; [ "$PULSE_UNIT" = plan ] && pulse tool propose_plan '${JSON.stringify({ plan: ONE })}'`;
    const goal = { plan: undefined, goal: 'Greet people properly', command: drafts };
    const { status, json } = await start(scene, goal);
    expect([status, json.session?.goal, json.pulses]).toEqual([201, goal.goal, []]);
    expect((await scene.run({ id: json.sessionId })).stop_reason).toBe('approval_required');
    const { json: view } = await scene.ask('GET', `/api/workflows/${json.sessionId}`);
    expect(view.workflow).toMatchObject({ title: ONE.title, approvedAt: null });
    expect(view.pulses).toMatchObject([{ plannedPulseId: 'one', status: 'proposed' }]);
    for (const neither of [{ plan: undefined }, { goal: 'both' }, { plan: undefined, goal: ' ' }])
      expect((await start(scene, neither)).status).toBe(422);
    const body = { goal: 'G', projectPath: scene.root, agent: 'demo', approve: true };
    const untrusted = { body, isStranger: true };
    expect((await scene.ask('POST', '/api/workflows', untrusted)).status).toBe(401);
  });

  it('shows its diffs: the whole, and each pulse by its id or the plan’s', async () => {
    const scene = await makeApiScene();
    const id = await driven(scene);
    const diff = (path: string) => scene.ask('GET', `/api/workflows/${id}/${path}`);
    const whole = await diff('diff');
    expect(whole.headers.get('content-type')).toBe('text/x-diff; charset=utf-8');
    expect(whole.headers.get('pulse-diff-truncated')).toBe('false');
    expect(whole.headers.get('pulse-diff-to')).toBe(
      scene.sh(scene.root, 'rev-parse', (await scene.pulse.session(id)).branch_name),
    );
    expect(whole.json).toContain('+hello');
    expect(whole.json).toContain('+bye');
    const { pulses } = (await scene.ask('GET', `/api/workflows/${id}`)).json;
    for (const name of ['two', pulses[1].id]) {
      const { status, json } = await diff(`pulses/${name}/diff`);
      expect(status).toBe(200);
      expect(json).toContain('+bye');
      expect(json).not.toContain('+hello');
    }
    expect(await diff('pulses/three/diff')).toMatchObject({ status: 404 });
    const waiting = (await start(scene, { branch: 'later' })).json.sessionId;
    expect(await scene.ask('GET', `/api/workflows/${waiting}/pulses/one/diff`)).toMatchObject({
      status: 404,
      json: { error: { code: 'not_found', message: expect.stringContaining('nothing was kept') } },
    });
  });

  it('cuts a long diff at 2 MB and hides secrets in it', async () => {
    const scene = await makeApiScene();
    const script = `cat > /dev/null; echo "GITHUB_TOKEN=ghp_0123456789abcdef0123" > a.txt
      yes 0123456789 | head -c 4000000 > big.txt; ${done('feat: much', 'a.txt', 'big.txt')}`;
    const id = await driven(scene, { plan: ONE, command: script });
    const { headers, json } = await scene.ask('GET', `/api/workflows/${id}/diff`);
    expect(headers.get('pulse-diff-truncated')).toBe('true');
    expect(json.length).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(json.length).toBeGreaterThan(2 * 1024 * 1024 - 20);
    expect(json).toContain('+GITHUB_TOKEN=[redacted]');
  });

  it('shows the baseline and records it again', async () => {
    const scene = await makeApiScene();
    const { ask, run, folder } = scene;
    writeFileSync(join(folder, 'known'), 'src/a.ts(1,1): error TS2304: Cannot find name x.\n');
    const check = { command: `cat ${folder}/known; exit 2`, source: 'Build' };
    const id = await driven(scene, { plan: { ...PLAN, verify: [check] }, approve: true });
    const { json } = await ask('GET', `/api/workflows/${id}/baseline`);
    expect(json.baseline).toEqual([
      {
        id: expect.stringMatching(/^bas_/),
        workflowId: expect.stringMatching(/^wfl_/),
        command: check.command,
        issueType: 'Error',
        source: 'Build',
        pattern: 'TS2304',
        filePath: 'src/a.ts',
        description: expect.stringContaining('Cannot find name'),
        count: 1,
        category: 'error',
        recordedAt: expect.any(String),
      },
    ]);
    writeFileSync(join(folder, 'known'), 'src/a.ts(1,1): error TS9999: Another.\n');
    expect(await post(scene, `${id}/baseline/refresh`)).toMatchObject({ status: 202 });
    expect((await run({ id })).stop_reason).toBe('approval_required');
    const again = (await ask('GET', `/api/workflows/${id}/baseline`)).json.baseline;
    expect(again).toMatchObject([{ pattern: 'TS9999' }]);
  });

  it('gives or refuses a pulse another run', async () => {
    const scene = await makeApiScene();
    const [given, refused] = [await asking('given'), await asking('refused')];
    expect(await post(scene, `${given}/extension`, { approve: true })).toMatchObject({ status: 202 });
    expect((await scene.run({ id: given })).stop_reason).toBe('approval_required');
    expect(
      (await scene.events({ id: given })).find(({ type }) => type === 'ExtensionApproved'),
    ).toMatchObject({
      data: { actor: 'api', plannedPulseId: 'one' },
    });
    expect(await post(scene, `${refused}/extension`, { approve: false })).toMatchObject({ status: 202 });
    expect(await scene.run({ id: refused })).toMatchObject({ status: 'failed', stop_reason: 'pulse_failed' });
    const { pulses } = (await scene.ask('GET', `/api/workflows/${refused}`)).json;
    expect(pulses).toMatchObject([{ status: 'failed', isRecoveryCheckpoint: true, extension: null }]);
    const kept = await scene.ask('GET', `/api/workflows/${refused}/pulses/one/diff`);
    expect(kept.json).toContain('+half');

    async function asking(branch: string): Promise<string> {
      const id = await driven(scene, { plan: ONE, command: EXTENDS, extensions: 'ask', branch });
      const { json } = await scene.ask('GET', `/api/workflows/${id}`);
      expect(json.session.stop_reason).toBe('extension_requested');
      expect(json.pulses[0].extension).toEqual({ reason: 'long', completed: ['half'], remaining: ['rest'] });
      return id;
    }
  });

  it('stops a pulse at once and keeps its work on its branch', async () => {
    const scene = await makeApiScene();
    const began = join(scene.folder, 'began');
    const command = `cat > /dev/null; echo half > half.txt; touch ${began}; sleep 60`;
    const { sessionId: id } = (await start(scene, { plan: ONE, command, approve: true })).json;
    const running = scene.run({ id });
    await until(() => existsSync(began), 30_000);
    const stopped = await scene.ask('POST', `/api/workflows/${id}/stop`);
    expect(stopped.status).toBe(202);
    expect(await running).toMatchObject({ status: 'paused', stop_reason: 'paused_by_user' });
    const [pulse] = (await scene.ask('GET', `/api/workflows/${id}`)).json.pulses;
    expect(pulse).toMatchObject({ status: 'stopped', isRecoveryCheckpoint: true });
    expect(scene.sh(scene.root, 'show', `${pulse.pulseBranch}:half.txt`)).toBe('half');
  });

  it('makes a pulse of what the review says, and takes an edited plan', async () => {
    const scene = await makeApiScene();
    const { sessionId: id } = (await start(scene)).json;
    expect(await post(scene, `${id}/approve`, { plan: ONE })).toMatchObject({ status: 202 });
    await scene.run({ id });
    const rejected = await post(scene, `${id}/review`, { reject: 'Say more.' });
    expect(rejected).toMatchObject({ status: 202, json: { merged: null, said: null } });
    await scene.run({ id });
    const { pulses } = (await scene.ask('GET', `/api/workflows/${id}`)).json;
    expect(pulses).toMatchObject([
      { plannedPulseId: 'one', status: 'succeeded' },
      { plannedPulseId: 'review-1', status: 'succeeded', comments: 'Say more.' },
    ]);
  });
});

describe('who may', () => {
  it('needs the token to start one, and without it creates nothing', async () => {
    const { ask, root, handed } = await makeApiScene();
    const body = { plan: PLAN, projectPath: root, agent: 'demo' };
    expect(await ask('POST', '/api/workflows', { body, isStranger: true })).toMatchObject({
      status: 401,
      json: { error: { code: 'unauthorized' } },
    });
    expect((await ask('GET', '/api/pulse')).json.sessions).toEqual([]);
    expect(handed).toEqual([]);
    expect((await ask('POST', '/api/workflows', { body })).status).toBe(201);
  });

  it.each([
    ['approve', undefined],
    ['extension', { approve: true }],
    ['stop', undefined],
    ['review', { approve: true }],
    ['baseline/refresh', undefined],
  ])('leaves %s to whoever shows the token', async (path, body) => {
    const scene = await makeApiScene();
    const { sessionId: id } = (await start(scene)).json;
    const before = await scene.events({ id });
    expect(await scene.ask('POST', `/api/workflows/${id}/${path}`, { body, isStranger: true })).toMatchObject(
      {
        status: 401,
        json: { error: { code: 'unauthorized' } },
      },
    );
    expect(await scene.events({ id })).toEqual(before);
    expect(scene.handed).toEqual([id]);
  });
});

describe('what is refused', () => {
  it('lists every violation of a plan at once', async () => {
    const scene = await makeApiScene();
    const plan = {
      title: '',
      pulses: [{ id: 'Big One', title: 'x', description: 'y', color: 'red' }, { id: 'b' }],
      verify: [{ command: 'true', source: 'Vibes' }],
    };
    const { status, json } = await start(scene, { plan });
    expect(status).toBe(422);
    const paths = json.error.details.violations.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual([
      'plan.pulses.0',
      'plan.pulses.0.id',
      'plan.pulses.1.description',
      'plan.pulses.1.title',
      'plan.title',
      'plan.verify.0.source',
    ]);
    expect(scene.handed).toEqual([]);
  });

  it.each([
    ['an id given twice', [{ id: 'a' }, { id: 'a' }], 'given twice'],
    ['an unknown dependency', [{ id: 'a', dependsOn: ['z'] }], 'which does not exist'],
    [
      'a circle',
      [
        { id: 'a', dependsOn: ['b'] },
        { id: 'b', dependsOn: ['a'] },
      ],
      'in a circle',
    ],
    ['a NUL', [{ id: 'a', title: 'x\0' }], 'NUL'],
  ])('refuses a plan with %s', async (_, pulses, text) => {
    const scene = await makeApiScene();
    const whole = pulses.map((pulse) => ({ title: 't', description: 'd', ...pulse }));
    const { status, json } = await start(scene, { plan: { title: 'T', pulses: whole } });
    expect([status, json.error.code]).toEqual([422, 'invalid_input']);
    expect(JSON.stringify(json.error.details)).toContain(text);
  });

  it.each([
    ['both', { approve: true, reject: 'x' }],
    ['neither', {}],
    ['no approval', { approve: false }],
    ['a way to merge what is rejected', { reject: 'x', merge: 'squash' }],
    ['an unknown way', { approve: true, merge: 'rebase' }],
  ])('refuses a review with %s', async (_, body) => {
    const scene = await makeApiScene();
    const { sessionId: id } = (await start(scene)).json;
    expect((await post(scene, `${id}/review`, body)).status).toBe(422);
  });

  it('answers 409 out of time, 404 for no session, 422 for a session that is no workflow', async () => {
    const scene = await makeApiScene();
    const { sessionId: id } = (await start(scene)).json;
    await scene.run({ id });
    const goal = (await scene.post(COMPLETE)).id;
    const posts: [string, unknown][] = [
      ['extension', { approve: true }],
      ['stop', undefined],
      ['review', { approve: true }],
      ['review', { reject: 'no' }],
      ['stop', undefined],
    ];
    const before = await scene.events({ id });
    for (const [path, body] of posts) {
      const answer = await post(scene, `${id}/${path}`, body);
      expect([path, answer.status, answer.json.error?.code]).toEqual([path, 409, 'invalid_transition']);
    }
    expect(await scene.events({ id })).toEqual(before);
    for (const [path, body] of [...posts, ['approve', undefined], ['baseline/refresh', undefined]] as const) {
      expect((await post(scene, `${UNKNOWN}/${path}`, body)).status).toBe(404);
      expect((await post(scene, `${goal}/${path}`, body)).status).toBe(422);
    }
    for (const path of ['', '/baseline', '/diff', '/pulses/one/diff']) {
      expect((await scene.ask('GET', `/api/workflows/${UNKNOWN}${path}`)).status).toBe(404);
      expect((await scene.ask('GET', `/api/workflows/${goal}${path}`)).status).toBe(422);
    }
    await post(scene, `${id}/approve`);
    expect(await post(scene, `${id}/approve`)).toMatchObject({ status: 409 });
  });
});

describe('an Idempotency-Key', () => {
  it('starts, approves and merges once, and gives the same answer again', async () => {
    const scene = await makeApiScene();
    const key = (name: string) => ({ 'idempotency-key': name });
    const first = await start(scene, { plan: ONE }, key('s'));
    const again = await start(scene, { plan: ONE }, key('s'));
    expect([again.status, again.json]).toEqual([201, first.json]);
    expect((await start(scene, {}, key('s'))).status).toBe(409);
    const { sessionId: id } = first.json;
    await scene.run({ id });
    const approved = await post(scene, `${id}/approve`, undefined, key('a'));
    await scene.run({ id });
    expect((await post(scene, `${id}/approve`, undefined, key('a'))).json).toEqual(approved.json);
    const merged = await post(scene, `${id}/review`, { approve: true }, key('r'));
    expect((await post(scene, `${id}/review`, { approve: true }, key('r'))).json).toEqual(merged.json);
    expect((await post(scene, `${id}/review`, { approve: true, merge: 'squash' }, key('r'))).status).toBe(
      409,
    );
    expect((await scene.ask('GET', `/api/workflows/${id}`)).json.workflow.planVersion).toBe(1);
    expect(await scene.run({ id })).toMatchObject({ status: 'complete' });
  });

  it('makes one pulse of ten identical rejections at once', async () => {
    const scene = await makeApiScene();
    const id = await driven(scene, { plan: ONE });
    const reject = () => post(scene, `${id}/review`, { reject: 'More.' }, { 'idempotency-key': 'x' });
    const answers = await Promise.all(Array.from({ length: 10 }, reject));
    expect(new Set(answers.map(({ status, json }) => `${status} ${JSON.stringify(json)}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(202);
    expect((await scene.ask('GET', `/api/workflows/${id}`)).json.pulses).toHaveLength(2);
  });

  it('is taken into the hand of the server with the decision', async () => {
    const scene = await makeApiScene();
    const hand = scene.pulse.servedSessions('this server');
    const { sessionId: id } = (await start(scene)).json;
    await scene.run({ id });
    const app = createApi({ pulse: scene.pulse, token: TOKEN, runSession: () => undefined, take: hand.take });
    expect(await hand.list()).toEqual([]);
    await app.request(`/api/workflows/${id}/approve`, { method: 'POST', headers: TRUSTED });
    expect(await hand.list()).toEqual([id]);
  });
});
