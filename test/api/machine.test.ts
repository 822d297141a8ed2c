/** What can be asked of this machine and of everything on it, without a port. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { makeApiScene } from './scene.ts';

it('lists projects, agents, settings and daemons', async () => {
  const { ask, post, root, environment } = await makeApiScene();
  const { id, project_name } = await post('true');
  const { projects } = (await ask('GET', '/api/projects')).json;
  expect(projects).toMatchObject([{ name: project_name, path: root, isThere: true, sessions: 1, open: 1 }]);
  const { agents } = (await ask('GET', '/api/agents')).json;
  expect(agents.find(({ name }: { name: string }) => name === 'demo')).toMatchObject({ isInstalled: true });
  const text =
    'agent: demo\nnotify:\n  sms: {accountSid: a, authTokenEnv: T, from: "+1", allow: ["+4912345"]}\n';
  await writeTrustedConfig(root, { text, environment });
  const config = (await ask('GET', `/api/config?path=${encodeURIComponent(root)}`)).json;
  expect(config.settings.agent).toMatchObject({ value: 'demo', source: expect.stringContaining('config') });
  expect(config.settings.maxIterations).toMatchObject({ source: 'default' });
  expect(config.project).toMatchObject({ trust: 'trusted' });
  expect(config.settings.notify.value).toEqual(['sms']);
  expect(JSON.stringify(config)).not.toContain('+4912345');
  expect((await ask('GET', '/api/config?path=/')).status).toBeGreaterThanOrEqual(400);
  expect((await ask('GET', '/api/daemons')).json).toEqual({ daemons: [] });
  expect(id).toBeTruthy();
});

it('adds up what a span of time came to', async () => {
  const { ask, run, post } = await makeApiScene();
  await run(await post('echo x > x; echo "<signal>COMPLETE</signal>"', { verify: ['true'] }));
  await run(await post('echo y > y; echo "<signal>CONTINUE</signal>"', { maxIterations: 2 }));
  const all = (await ask('GET', '/api/figures?by=agent')).json;
  expect(all.rows).toMatchObject([{ key: 'command', sessions: 2, complete: 1, verified: 1, iterations: 3 }]);
  expect(all.total).toMatchObject({ sessions: 2, iterations: 3, commits: 2 });
  const today = new Date().toISOString().slice(0, 10);
  const days = (await ask('GET', `/api/figures?from=${today}`)).json.rows;
  expect(days).toMatchObject([{ key: today, sessions: 2 }]);
  expect((await ask('GET', '/api/figures?from=2020-01-01&to=2020-02-01')).json.total).toMatchObject({
    sessions: 0,
  });
  expect((await ask('GET', '/api/figures?from=2021-01-01&to=2020-02-01')).status).toBe(422);
});

it('counts each complete session once, by how it ended', async () => {
  const { ask, run, post } = await makeApiScene();
  const change = 'date +%N > x-$$; echo "<signal>COMPLETE</signal>"';
  await run(await post(change, { verify: ['true'] }));
  await run(await post(change));
  await run(await post('echo "<signal>COMPLETE</signal>"', { verify: ['true'] }));
  const gone = await post(change, { verify: ['true'] });
  await run(gone);
  expect((await ask('POST', `/api/pulse/${gone.id}/discard`, { body: {} })).status).toBe(202);
  const { total } = (await ask('GET', '/api/figures')).json;
  expect(total).toMatchObject({
    ...{ complete: 4, verified: 1, checksChanged: 0, unverified: 1, nothingChanged: 1, discarded: 1 },
  });
});

it('checks the proofs of a commit, for who may change something', async () => {
  const { ask, run, post, root } = await makeApiScene();
  const session = await post('echo p > p; echo "<signal>COMPLETE</signal>"', { verify: ['test -f p'] });
  await run(session);
  const question = { projectPath: root, what: session.branch_name };
  const path = '/api/proofs/verify';
  const { json, status } = await ask('POST', path, { body: question });
  expect(status).toBe(200);
  // Nobody has said yet that this installation's key is to be believed.
  expect(json).toMatchObject({ what: session.branch_name, verdict: 'unproven' });
  expect(json.commits).toMatchObject([{ verdict: 'unproven', proofs: [{ state: 'unknown' }] }]);
  expect((await ask('POST', path, { body: { ...question, what: 'nowhere' } })).status).toBe(404);
  expect((await ask('POST', path, { body: { ...question, keys: ['no key'] } })).status).toBe(422);
  expect((await ask('POST', path, { body: question, isStranger: true })).status).toBe(401);
});

it('deletes what is old when it is asked to, and says so', async () => {
  const { ask, root } = await makeApiScene();
  const { json, status } = await ask('POST', '/api/doctor/gc', { body: { path: root } });
  expect(status).toBe(200);
  expect(json.findings).toContainEqual(expect.objectContaining({ subject: 'gc', level: 'ok' }));
  expect((await ask('POST', '/api/doctor/gc', { body: {}, isStranger: true })).status).toBe(401);
});

it('starts and follows with the commands that prepare a worktree', async () => {
  const { ask, run, post } = await makeApiScene();
  const first = await post('echo s > s; echo "<signal>COMPLETE</signal>"', { setup: ['touch prepared'] });
  expect(first.setup).toEqual(['touch prepared']);
  await run(first);
  const body = { goal: 'And then', setup: ['touch again'] };
  const { json, status } = await ask('POST', `/api/pulse/${first.id}/follow`, { body });
  expect([status, json.session?.setup]).toEqual([201, ['touch again']]);
});

it('finds words in goals, mail, beads, files and turns', async () => {
  const { ask, run, post, root } = await makeApiScene();
  const { id } = await run(
    await post('mkdir -p lib; echo x > lib/Umbrella_a.txt; echo "<signal>CONTINUE</signal>"', {
      ...{ goal: 'Fold the umbrella', maxIterations: 1 },
    }),
  );
  await ask('POST', '/api/beads', { body: { project_key: root, title: 'Paint the umbrella' } });
  for (const name of ['Fox', 'Owl'])
    await ask('POST', '/api/mail/agents', { body: { project_key: root, name } });
  const mail = {
    project_key: root,
    sender_name: 'Fox',
    to: ['Owl'],
    subject: 'Umbrella?',
    body_md: 'Where?',
  };
  await ask('POST', '/api/mail', { body: mail });
  const { json } = await ask('GET', '/api/search?q=umbrella');
  expect(json.goals).toMatchObject([{ sessionId: id }]);
  expect(json.files).toMatchObject([{ sessionId: id, iteration: 1, path: 'lib/Umbrella_a.txt' }]);
  expect(json.beads).toMatchObject([{ title: 'Paint the umbrella' }]);
  expect(json.mail[0]).toMatchObject({ subject: 'Umbrella?', from: 'Fox' });
  expect(json.turns.length).toBeGreaterThan(0);
  const some = (await ask('GET', '/api/search?q=umbrella%20nowhere&in=goals,files')).json;
  expect(some).toEqual({ query: 'umbrella nowhere', goals: [], files: [] });
  expect((await ask('GET', '/api/search?q=umbrella&in=drawers')).status).toBe(422);
  expect((await ask('GET', '/api/search?q=%20')).status).toBe(422);
});

it('tries a start and creates nothing', async () => {
  const { ask, root, store, handed, refs } = await makeApiScene();
  const input = { projectPath: root, goal: 'Do it', command: 'true', budgetUsd: 3 };
  writeFileSync(join(root, 'dirty.txt'), 'x');
  const branches = refs('refs/heads/');
  const good = await ask('POST', '/api/check', { body: { kind: 'goal', input } });
  expect(good).toMatchObject({
    status: 200,
    json: {
      ...{ isStartable: true, violations: [], isUnverified: true, agent: 'command' },
      ...{ dirty: { count: 1, files: ['dirty.txt'] }, limits: { budgetUsd: 3, maxIterations: 10 } },
    },
  });
  const bad = await ask('POST', '/api/check', {
    body: { kind: 'goal', input: { goal: ' ', sandbox: 'maybe' } },
  });
  const paths = bad.json.violations.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(expect.arrayContaining(['projectPath', 'goal', 'sandbox']));
  expect(bad.json.isStartable).toBe(false);
  const refused = await ask('POST', '/api/check', {
    body: { kind: 'goal', input: { ...input, base: 'nowhere' } },
  });
  expect(refused.json).toMatchObject({ isStartable: false, violations: [{ message: expect.any(String) }] });
  const plan = { title: 'Greet', pulses: [{ id: 'one', title: 'One', description: 'Say hello.' }] };
  const flow = { kind: 'workflow', input: { projectPath: root, plan, command: 'true' } };
  expect((await ask('POST', '/api/check', { body: flow })).json).toMatchObject({ isStartable: true });
  const research = {
    goal: 'Faster',
    metric: { name: 'ms', direction: 'lower', verifyCommand: 'echo 1' },
    scope: { inScope: ['src/**'] },
  };
  const probe = { kind: 'research', input: { projectPath: root, research, command: 'true' } };
  expect((await ask('POST', '/api/check', { body: probe })).json).toMatchObject({ isStartable: true });
  expect((await ask('POST', '/api/check', { body: { kind: 'goal', input }, isStranger: true })).status).toBe(
    401,
  );

  expect(await store.read((db) => db.selectFrom('pulse_sessions').select('id').execute())).toEqual([]);
  expect(await store.read((db) => db.selectFrom('turns').select('id').execute())).toEqual([]);
  expect(refs('refs/heads/')).toEqual(branches);
  expect(handed).toEqual([]);
});

it('asks the doctor, once for all who ask at the same time', async () => {
  const { ask, root } = await makeApiScene();
  const path = `/api/doctor?path=${encodeURIComponent(root)}`;
  const [one, two] = await Promise.all([ask('GET', path), ask('GET', path)]);
  expect(one.status).toBe(200);
  expect(one.json.findings.find(({ subject }: { subject: string }) => subject === 'git')).toMatchObject({
    level: 'ok',
  });
  expect(two.json).toEqual(one.json);
});
