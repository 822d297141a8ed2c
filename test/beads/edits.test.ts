/** What an agent may change while it works on a bead, asked where it edits: Pulse's own tools, and an agent's hook. */
import { describe, expect, it } from 'vitest';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

const tool = (name: string, input: object, to: string) =>
  `pulse tool ${name} '${JSON.stringify(input)}' > "$OUT/${to}" || true`;
const write = (path: string, to: string) => tool('write_file', { path, content: 'x\n' }, to);
/** As claude's hook asks before it writes. */
const hook = (path: string, to: string) =>
  `curl -s -H "Authorization: Bearer $PULSE_TOOLS_TOKEN" -d '${JSON.stringify({
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: path, content: 'x' },
  })}' "$PULSE_TOOLS_URL/guard/claude" > "$OUT/${to}"`;

const answer = (scene: SwarmScene, name: string) => JSON.stringify(scene.reply(name));

describe('an edit inside a bead', () => {
  it('is refused outside of its files, by tool and by hook, with the way to ask', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one');
    const id = await scene.start(
      [
        write('other.txt', 'tool.json'),
        hook('other.txt', 'hook.json'),
        write('one.txt', 'own.json'),
        hook('one.txt', 'own-hook.json'),
        beadDone(),
      ].join('\n'),
      { standalone: true },
    );
    const { session } = await scene.drive(id);
    for (const name of ['tool.json', 'hook.json'])
      expect(answer(scene, name)).toMatch(/other\.txt is not among the files of bead one.*request_scope/);
    expect(scene.reply('own.json')).toMatchObject({ ok: true });
    expect(scene.reply('own-hook.json')).toEqual({});
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    const [worker] = (await scene.pulse.swarm.show(id)).workers;
    const { events } = await scene.pulse.export(worker!.sessionId);
    expect(events.filter(({ type }) => type === 'agent.denied')).toMatchObject([
      { data: { tool: 'Write', reason: expect.stringContaining('other.txt') } },
    ]);
  });

  it('is allowed once a person has widened the scope, while the same run lasts', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one');
    const wait = 'touch "$OUT/asked"; until [ -f "$OUT/widened" ]; do sleep 0.02; done';
    const script = [
      write('two.txt', 'before.json'),
      wait,
      write('two.txt', 'after.json'),
      'echo x > one.txt',
    ];
    const id = await scene.start([...script, beadDone()].join('\n'), { standalone: true });
    const running = scene.drive(id);
    await scene.appears('asked');
    await scene.pulse.bead.scope('one', { add: ['two.txt'] });
    scene.scratch.file('widened', '');
    const { session } = await running;
    expect(scene.reply('before.json')).toMatchObject({ ok: false });
    expect(scene.reply('after.json')).toMatchObject({ ok: true });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  });

  it('its worker holds what a person has allowed, and is told so by mail into its run', async () => {
    await using scene = await createSwarmScene();
    const { pulse, scratch } = scene;
    await scene.bead('one');
    const wait = (said: string, heard: string) =>
      `touch "$OUT/${said}"; until [ -f "$OUT/${heard}" ]; do sleep 0.02; done`;
    const ask = (to: string, files = ['two.txt', 'lib/a b.txt'], reason = 'it needs them') =>
      tool('request_scope', { files, reason }, to);
    const script = [
      ...[ask('first.json'), ask('again.json', ['lib/a b.txt', './two.txt'], 'please')],
      ...[ask('outside.json', ['../x']), ask('git.json', ['.git/config'])],
      wait('asked', 'widened'),
      write('two.txt', 'after.json'),
      ask('granted.json'),
      'echo x > one.txt',
    ];
    const id = await scene.start([...script, beadDone()].join('\n'), { workers: 1 });
    const running = scene.drive(id);
    await scene.appears('asked');
    const project_key = scratch.repository;
    const mail = async (agent_name: string) =>
      (await pulse.mail.inbox({ agent_name, project_key })).messages.filter(({ subject }) =>
        subject.startsWith('Scope'),
      );
    const asked = await mail('coordinator');
    expect(asked).toMatchObject([
      {
        subject: 'Scope of one',
        thread_id: 'app',
        topic: 'epic-app',
        body_md: expect.stringContaining("pulse bead scope one --add 'lib/a b.txt' --add two.txt"),
      },
    ]);
    expect(
      await pulse.bead.scope('one', { project_key, add: ['two.txt', 'lib/a b.txt'] }),
    ).not.toHaveProperty('conflicts');
    const { reservations } = await pulse.reservations.list({ project_key });
    expect(reservations.map(({ agent_name, path }) => [agent_name, path])).toEqual([
      ['worker-1', 'one.txt'],
      ['worker-1', 'lib/a b.txt'],
      ['worker-1', 'two.txt'],
    ]);
    scratch.file('widened', '');
    const { session } = await running;
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(answer(scene, 'again.json')).toMatch(/was asked for .* already/);
    expect(scene.reply('outside.json')).toMatchObject({ ok: false });
    expect(scene.reply('git.json')).toMatchObject({ ok: false });
    expect(scene.reply('after.json')).toMatchObject({
      ok: true,
      notice: expect.stringMatching(
        /`Scope of one: allowed`[\s\S]*Allowed: two\.txt, lib\/a b\.txt\. They stand among the files of one now/,
      ),
    });
    expect(answer(scene, 'granted.json')).toMatch(/may change .* already: nobody was asked/);
    expect(await mail('coordinator')).toHaveLength(1);
    expect(await mail('worker-1')).toMatchObject([
      { sender_name: 'coordinator', thread_id: 'app', topic: 'epic-app' },
    ]);
  });

  it('what another holds of it is told to the coordinator, to the worker and to the person', async () => {
    await using scene = await createSwarmScene();
    const { pulse, scratch } = scene;
    const project_key = scratch.repository;
    await scene.bead('one');
    await pulse.mail.register({ project_key, name: 'Fox' });
    await pulse.reservations.reserve({ project_key, agent_name: 'Fox', paths: ['lib/**'] });
    const script = [
      'touch "$OUT/asked"; until [ -f "$OUT/widened" ]; do sleep 0.02; done',
      ...[write('two.txt', 'two.json'), write('lib/x.txt', 'lib.json'), 'echo x > one.txt'],
    ];
    const id = await scene.start([...script, beadDone()].join('\n'), { workers: 1 });
    const running = scene.drive(id);
    await scene.appears('asked');
    const { conflicts } = await pulse.bead.scope('one', { project_key, add: ['two.txt', 'lib/x.txt'] });
    expect(conflicts).toMatchObject([{ path: 'lib/x.txt', pattern: 'lib/**', holder: 'Fox' }]);
    scratch.file('widened', '');
    const { session } = await running;
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(scene.reply('two.json')).toMatchObject({
      ok: true,
      notice: expect.stringContaining('lib/x.txt is reserved by Fox until'),
    });
    expect(answer(scene, 'lib.json')).toMatch(/reserved by Fox/);
    const { messages } = await pulse.mail.inbox({ agent_name: 'coordinator', project_key });
    expect(messages.find(({ subject }) => subject === 'File conflict on one')).toMatchObject({
      body_md: 'Need files: two.txt, lib/x.txt. Currently held by: Fox. Requesting resolution.',
    });
  });

  it('a bead that is refused twice for the same files is given back, with that reason', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one');
    const script = `echo x > one.txt; echo x > two.txt; ${beadDone('done.json')} || true`;
    const id = await scene.start(script, { workers: 1 });
    const { session, beads } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'unresolved_issues' });
    expect(beads[0]).toMatchObject({
      status: 'blocked',
      reason: expect.stringMatching(/^Two runs were refused for the same files.*two\.txt/),
    });
    const { messages } = await scene.pulse.mail.inbox({ agent_name: 'coordinator' });
    expect(messages.map(({ subject }) => subject)).toContain('Blocked one');
    const [worker] = (await scene.pulse.swarm.show(id)).workers;
    expect(await scene.pulse.session(worker!.sessionId)).toMatchObject({ current_iteration: 2 });
  });

  it('is refused where another has reserved the file, and so is the bead until it is released', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one');
    const wait = (said: string, heard: string) =>
      `touch "$OUT/${said}"; until [ -f "$OUT/${heard}" ]; do sleep 0.02; done`;
    const id = await scene.start(
      [
        wait('started', 'taken'),
        write('one.txt', 'tool.json'),
        hook('one.txt', 'hook.json'),
        'echo x > one.txt',
        `${beadDone('held.json')} || true`,
        wait('tried', 'released'),
        beadDone('free.json'),
      ].join('\n'),
      { standalone: true },
    );
    const running = scene.drive(id);
    await scene.appears('started');
    const project_key = scene.scratch.repository;
    await scene.pulse.mail.register({ project_key, name: 'Fox' });
    const forced = { project_key, agent_name: 'Fox', paths: ['*.txt'], force: true };
    expect(await scene.pulse.reservations.reserve(forced)).toMatchObject({ conflicts: [] });
    scene.scratch.file('taken', '');
    await scene.appears('tried');
    await scene.pulse.reservations.release({ project_key, agent_name: 'Fox' });
    scene.scratch.file('released', '');
    const { session } = await running;
    const said = /one\.txt is reserved by Fox \(\*\.txt, until .*bead one.*file_reservation_paths/;
    for (const name of ['tool.json', 'hook.json', 'held.json']) expect(answer(scene, name)).toMatch(said);
    expect(scene.reply('free.json')).toMatchObject({ ok: true });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  });

  it('is for tests alone until red was seen, also in a later run of the bead', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one', {
      files: ['src/**', 'test/**'],
      verify: [{ command: 'node --test' }],
      testing_mode: 'tdd-required',
      tdd_steps: { red: 'node --test', green: 'node --test' },
    });
    const test = `import assert from 'node:assert';
import { existsSync } from 'node:fs';
import test from 'node:test';
test('it is there', () => assert.ok(existsSync('src/one.txt')));
`;
    const content = scene.scratch.file(
      'content',
      JSON.stringify({ path: 'test/one.test.mjs', content: test }),
    );
    const first = [
      write('src/one.txt', 'early.json'),
      `pulse tool write_file - < '${content}' > "$OUT/test.json"`,
      tool('tdd_red', {}, 'red.json'),
      'echo "<signal>CONTINUE</signal>"; exit 0',
    ].join('\n');
    const second = [write('src/one.txt', 'late.json'), beadDone()].join('\n');
    const id = await scene.start(`if [ $PULSE_ITERATION = 1 ]; then\n${first}\nfi\n${second}`, {
      standalone: true,
    });
    const { session } = await scene.drive(id);
    expect(answer(scene, 'early.json')).toMatch(/src\/one\.txt is no test file.*tdd_red/);
    expect(scene.reply('test.json')).toMatchObject({ ok: true });
    expect(scene.reply('red.json')).toMatchObject({ ok: true });
    expect(scene.reply('late.json')).toMatchObject({ ok: true });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  });
});

it('a scope that is allowed while the swarm is stopped is in the next run', async () => {
  await using scene = await createSwarmScene();
  const { pulse, scratch } = scene;
  const project_key = scratch.repository;
  await scene.bead('a');
  const id = await scene.start(
    `touch "$OUT/started"; [ -f "$OUT/go" ] || sleep 60; echo x > a.txt; echo x > b.txt; ${beadDone()}`,
    { workers: 1 },
  );
  const running = scene.drive(id);
  await scene.appears('started');
  await pulse.swarm.stop(id);
  await running;
  await pulse.bead.scope('a', { project_key, add: ['b.txt'] });
  expect((await pulse.reservations.list({})).reservations).toEqual([]);
  scratch.file('go', '');
  await pulse.resume(id);
  const { session } = await scene.drive(id);
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
});

it('many scopes at once are all there', async () => {
  await using scene = await createSwarmScene();
  const { pulse, scratch } = scene;
  const project_key = scratch.repository;
  await scene.bead('a');
  const id = await scene.start(
    `touch "$OUT/started"; until [ -f "$OUT/go" ]; do sleep 0.02; done; echo x > a.txt; ${beadDone()}`,
    { workers: 1 },
  );
  const running = scene.drive(id);
  await scene.appears('started');
  const names = Array.from({ length: 30 }, (_, index) => `f${index}.txt`);
  await Promise.all(names.map((name) => pulse.bead.scope('a', { project_key, add: [name] })));
  const held = (await pulse.reservations.list({})).reservations.map(({ path }) => path).toSorted();
  expect(held).toEqual(['a.txt', ...names].toSorted());
  const { messages } = await pulse.mail.list({ project_key, agent_name: 'worker-1' });
  expect(messages).toHaveLength(30);
  scratch.file('go', '');
  const { session } = await running;
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
});
