/** `br` and `bv` on the PATH of a worker's run, where they are not installed, and what a worker must have read before. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withCoordinationTables } from '../../src/coordination/tables.ts';
import { beadTables } from '../../src/loops/beads/table-module.ts';
import { withWorkerTables } from '../../src/loops/beads/worker/tables.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { beadDone, createSwarmScene } from './swarm-scene.ts';

const run = (command: string, to: string) => `${command} > "$OUT/${to}" 2>&1; echo "exit $?" >> "$OUT/${to}"`;

it('answer what a worker is told to run, from the store, and change nothing', async () => {
  await using scene = await createSwarmScene();
  scene.decide('- D1: So.');
  await scene.bead('one', { priority: 0, body: 'As D1 says.' });
  await scene.bead('two', { priority: 3 });
  await scene.bead('three', { priority: 1, dependencies: ['two'] });
  await scene.bead('four', { priority: 4 });
  const id = await scene.start(
    [
      'if [ $PULSE_UNIT = one ]; then',
      run('bv --robot-priority', 'bv'),
      run('br ready', 'ready'),
      run('br show one', 'show'),
      run('br show two --json', 'show-json'),
      run('br show none', 'none'),
      run('br list --status open', 'list'),
      run('br update one --status in_progress', 'claim'),
      run('br update two --status=closed', 'update'),
      run('br close one --reason "Completed: it"', 'close'),
      run('br frobnicate', 'unknown'),
      run('bv', 'plain-bv'),
      run('pulse bead next --json', 'pulse-next'),
      run('pulse bead next --why', 'pulse-why'),
      run('pulse bead show --json', 'pulse-show'),
      run('pulse bead list --status open', 'pulse-list'),
      run('pulse bead show none', 'pulse-none'),
      run('pulse bead close two', 'pulse-close'),
      'echo "home: $PULSE_HOME" > "$OUT/where"',
      'fi',
      `echo x > $PULSE_UNIT.txt; ${beadDone('done.json', { decisions: [{ id: 'D1', how: 'so' }] })}`,
    ].join('\n'),
    { workers: 1 },
  );
  const { session } = await scene.drive(id);
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  const said = (name: string) => readFileSync(join(scene.scratch.path, name), 'utf8');
  // The state directory is not the agent's to open; the run itself answers.
  expect(said('where')).toBe('home: \n');
  const told = (name: string) => JSON.parse(said(name).replace(/exit 0\n$/, ''));
  expect(told('pulse-next')).toMatchObject({ bead: { id: 'two', feature: 'app' } });
  expect(said('pulse-why')).toMatch(/not three: it waits for two[\s\S]*exit 0/);
  expect(told('pulse-show')).toMatchObject({ bead: { id: 'one', status: 'in_progress' } });
  expect(said('pulse-list').match(/^· (\w+)/gm)).toEqual(['· app', '· two', '· three', '· four']);
  expect(said('pulse-none')).toMatch(/There is no bead none[\s\S]*exit 2/);
  expect(said('pulse-close')).toMatch(/is for people[\s\S]*exit 2/);
  const { recommendations } = JSON.parse(said('bv').replace(/exit 0\n$/, ''));
  expect(recommendations).toMatchObject([
    { rank: 1, issue_id: 'two', unblocks: 1, critical_path: 1, files: ['two.txt'] },
    { rank: 2, issue_id: 'four' },
  ]);
  expect(said('ready')).toBe(
    'two [P3] [task] open - Write two\nfour [P4] [task] open - Write four\nexit 0\n',
  );
  for (const part of ['one [P0] [task] in_progress', 'files: one.txt', '- test -s one.txt', 'As D1 says.'])
    expect(said('show')).toContain(part);
  expect(JSON.parse(said('show-json').replace(/exit 0\n$/, ''))).toMatchObject([
    {
      id: 'two',
      issue_type: 'task',
      files: ['two.txt'],
      verify: [{ command: 'test -s two.txt' }],
      missing: [],
    },
  ]);
  expect(said('none')).toMatch(/none[\s\S]*exit 1/);
  expect(
    said('list')
      .split('\n')
      .filter((line) => line.includes(' open - ')),
  ).toHaveLength(3);
  expect(said('claim')).toMatch(/one is claimed for you[\s\S]*exit 0/);
  expect(said('update')).toMatch(/no bead is changed[\s\S]*exit 1/);
  expect(said('close')).toMatch(/bead_done[\s\S]*exit 1/);
  expect(said('unknown')).toMatch(/not known here[\s\S]*exit 2/);
  expect(said('plain-bv')).toMatch(/--robot-priority[\s\S]*exit 2/);
});

it('leave the real programs alone', async () => {
  await using scene = await createSwarmScene();
  await scene.bead('one');
  const bin = join(scene.scratch.path, 'real');
  mkdirSync(bin);
  writeFileSync(join(bin, 'br'), '#!/bin/sh\necho the real br "$@"\n');
  chmodSync(join(bin, 'br'), 0o755);
  scene.environment.PATH = `${scene.environment.PATH}:${bin}`;
  const id = await scene.start([run('br ready', 'ready'), `echo x > one.txt; ${beadDone()}`].join('\n'), {
    workers: 1,
  });
  await scene.drive(id);
  expect(readFileSync(join(scene.scratch.path, 'ready'), 'utf8')).toBe('the real br ready\nexit 0\n');
});

it('what comes next is told when the inbox and a stale topic were read, by br, bv and pulse alike', async () => {
  await using scene = await createSwarmScene();
  await scene.bead('one');
  await scene.bead('two');
  const wait = (said: string, heard: string) =>
    `touch "$OUT/${said}"; until [ -f "$OUT/${heard}" ]; do sleep 0.02; done`;
  // An agent's environment does not name the state directory of a test.
  const next = `PULSE_HOME='${scene.scratch.home}' pulse bead next`;
  const id = await scene.start(
    [
      `if [ $PULSE_UNIT = one ]; then ${wait('started', 'aged')}`,
      ...[run('bv --robot-priority', 'bv'), run('br ready', 'ready'), run(next, 'next')],
      "pulse tool fetch_inbox '{}' > /dev/null",
      run('br ready', 'half'),
      `pulse tool fetch_topic '{"topic_name":"epic-app"}' > /dev/null`,
      ...[run('br ready', 'told'), run(next, 'next-told')],
      'fi',
      `echo x > $PULSE_UNIT.txt; ${beadDone()}`,
    ].join('\n'),
    { workers: 1 },
  );
  const running = scene.drive(id);
  await scene.appears('started');
  const store = await openSqlite({ path: scene.pulse.home.database, modules: [beadTables] });
  const old = '2020-01-01T00:00:00.000Z';
  await store.tx('age', async (db) => {
    await withCoordinationTables(db).updateTable('mail_messages').set({ created_at: old }).execute();
    await withWorkerTables(db).updateTable('bead_workers').set({ inbox_at: null, topic_at: null }).execute();
  });
  await store.close();
  scene.scratch.file('aged', '');
  const { session } = await running;
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  const said = (name: string) => readFileSync(join(scene.scratch.path, name), 'utf8');
  for (const name of ['bv', 'ready', 'next']) expect(said(name)).toMatch(/fetch_inbox[\s\S]*fetch_topic/);
  for (const name of ['bv', 'ready']) expect(said(name)).toContain('exit 1');
  expect(said('next')).not.toContain('exit 0');
  expect(said('half')).toMatch(/fetch_topic[\s\S]*exit 1/);
  expect(said('half')).not.toContain('fetch_inbox');
  expect(said('told')).toBe('two [P2] [task] open - Write two\nexit 0\n');
  expect(said('next-told')).toMatch(/two[\s\S]*exit 0/);
});

it('pulse in a worker’s shell asks the run, and makes no store of its own', async () => {
  await using scene = await createSwarmScene();
  const own = join(scene.scratch.path, 'default');
  scene.environment.XDG_DATA_HOME = own;
  await scene.bead('one');
  const id = await scene.start(
    [
      run('pulse mail inbox --as worker-1 --json', 'inbox'),
      run('pulse mail inbox --as another', 'another'),
      run('pulse mail topic epic-app --json', 'topic'),
      run('pulse mail search online --json', 'search'),
      run('pulse reserve --list --json', 'held'),
      run('pulse reserve --list', 'held-text'),
      ...REFUSED.map((args, index) => run(`pulse ${args}`, `refused-${index}`)),
      run('pulse status --json', 'status'),
      `echo x > one.txt; ${beadDone()}`,
    ].join('\n'),
    { workers: 1 },
  );
  const { session } = await scene.drive(id);
  expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  const said = (name: string) => readFileSync(join(scene.scratch.path, name), 'utf8');
  const told = (name: string) => JSON.parse(said(name).replace(/exit 0\n$/, ''));
  expect(told('inbox')).toEqual({ messages: expect.any(Array) });
  expect(said('another')).toMatch(/This run is worker-1, not another[\s\S]*exit [12]/);
  for (const name of ['topic', 'search'])
    expect(told(name).messages, name).toContainEqual(
      expect.objectContaining({ subject: expect.stringMatching(/^\[ONLINE\]/), topic: 'epic-app' }),
    );
  expect(told('held')).toMatchObject({ reservations: [{ agent_name: 'worker-1', path: 'one.txt' }] });
  expect(said('held-text')).toMatch(/worker-1 +one\.txt/);
  for (const [index, args] of REFUSED.entries()) {
    const text = said(`refused-${index}`);
    expect(text, `${args}: ${text}`).toMatch(
      /(?:is for people|is not answered inside this run)[\s\S]*exit 2/,
    );
  }
  expect(told('status')).toMatchObject({ sessions: [], onboarding: expect.anything() });
  expect(existsSync(own)).toBe(false);
  expect(existsSync(join(scene.scratch.path, 'issues.jsonl'))).toBe(false);
});

/** What no tool of a run answers. */
const REFUSED = [
  ...['export "$OUT/issues.jsonl"', 'export', 'import x', 'create --title T', 'update one', 'close one'].map(
    (args) => `bead ${args}`,
  ),
  ...['bead scope one --add x', 'bead plan "A goal"'],
  ...[
    'mail register X',
    'mail send --from worker-1 --to X --subject S --body B',
    'mail reply m --from worker-1 --body B',
  ],
  ...['mail ack m --as worker-1', 'reserve x --as worker-1', 'release --as worker-1'],
  ...['context import', 'context turns', 'context code words', 'context slice t'],
];
