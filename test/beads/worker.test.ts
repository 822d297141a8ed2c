/** One worker: takes beads in order, is verified by Pulse, and leaves each as one commit. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { beadDone, createSwarmScene } from './swarm-scene.ts';

const WRITE = 'echo "$PULSE_UNIT" > $PULSE_UNIT.txt';

describe('a single worker', () => {
  it('closes every bead in order, each as one commit with its evidence', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one');
    await scene.bead('two', { dependencies: ['one'], type: 'bug' });
    const id = await scene.start(`${WRITE}; ${beadDone()}`, { standalone: true });
    const { session, beads } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({
      status: 'complete',
      stop_reason: 'completed',
    });
    expect(beads).toMatchObject([
      { id: 'one', status: 'closed' },
      { id: 'two', status: 'closed' },
    ]);
    expect(await scene.subjects(id)).toEqual(['feat(one): write it', 'fix(two): write it']);
    expect(scene.scratch.git('for-each-ref', 'refs/pulse/recovery')).toBe('');
    const { branch_name: branch } = session;
    expect(scene.scratch.git('show', `${branch}:two.txt`)).toBe('two');
    expect(scene.scratch.git('show', `${branch}:history/app/verification/one.md`)).toContain(
      'test -s one.txt',
    );
    expect(scene.scratch.git('rev-parse', `${branch}~1`)).toBe(beads[0]!.commit);
    const { bead } = await scene.pulse.bead.show('one');
    expect(bead).toMatchObject({ close_reason: 'Completed: write it' });
    const state = readFileSync(join(scene.scratch.repository, '.pulse/STATE.md'), 'utf8');
    expect(state.split('\n').filter((line) => /(one|two) completed/.test(line))).toHaveLength(2);
  });

  it('says by its exit that it is done, where it knows no tools', async () => {
    await using scene = await createSwarmScene();
    scene.decide('- D1: So.');
    await scene.bead('one', { decision_refs: ['D1'] });
    const id = await scene.start(`${WRITE}; echo "Wrote the file"; echo "and more"`, { standalone: true });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(await scene.subjects(id)).toEqual(['feat(one): Wrote the file']);
  });

  it('writes the evidence to every declared path too, in the same commit, over nothing but evidence', async () => {
    await using scene = await createSwarmScene();
    const { scratch, pulse } = scene;
    const issue = (id: string, ...evidence: string[]) => {
      const check = `test -s ${id}.txt${id === 'one' ? ' && ! test -e docs/proof.json' : ''}`;
      const fields = `files: [${id}.txt]\nverify: [{command: ${check}}]\nverification_evidence: [${evidence}]\ntesting_mode: standard\ndecision_refs: []\nlearning_refs: []`;
      const description = `---\n${fields}\n---\nDo it.`;
      const depends = { depends_on_id: 'app', type: 'parent-child' };
      return JSON.stringify({
        ...{ id, title: id, description, status: 'open', priority: 1, issue_type: 'task' },
        dependencies: [{ issue_id: id, ...depends }],
        ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
      });
    };
    const project_key = scratch.repository;
    const content = [
      issue('one', 'docs/proof.json', 'history/app/verification/one.md'),
      issue('two', 'README.md'),
      issue('three', 'README.md/x.md'),
      issue('four'),
      issue('five', 'five.txt'),
      issue('six', 'six.txt/proof.md'),
    ].join('\n');
    await pulse.bead.importFile({ project_key, content: `${content}\n`, file: 'issues.jsonl' });
    const done = [
      'mkdir -p docs',
      // As if it were evidence: no check may pass by it.
      '[ $PULSE_UNIT = one ] && echo "# Verification of mine" > docs/proof.json',
      `echo x > $PULSE_UNIT.txt; ${beadDone()} || true`,
    ].join('\n');
    const id = await scene.start(`${done}`, { workers: 1 });
    const { session, beads } = await scene.drive(id);
    const { branch_name: branch } = session;
    const show = (path: string) => scratch.git('show', `${branch}:${path}`);
    const of = (bead: string) => beads.find((one) => one.id === bead)!;
    expect(of('one'), JSON.stringify(scene.reply('done-one.json'))).toMatchObject({ status: 'closed' });
    const text = show('history/app/verification/one.md');
    expect(text).toMatch(/^# Verification of one/);
    expect(show('docs/proof.json')).toBe(text);
    expect(scratch.git('show', '--name-only', '--format=', of('one').commit!).split('\n')).toEqual([
      'docs/proof.json',
      'history/app/verification/one.md',
      'one.txt',
    ]);
    for (const bead of ['two', 'three'])
      expect(of(bead)).toMatchObject({
        status: 'blocked',
        reason: expect.stringMatching(
          /^Its verification_evidence names README\.md.*where something else lies/,
        ),
      });
    expect(show('README.md')).toBe('# Scratch');
    // An empty list is none too few: its usual place has it.
    expect(of('four')).toMatchObject({ status: 'closed' });
    expect(show('history/app/verification/four.md')).toMatch(/^# Verification of four/);
    expect(of('five').status).toBe('blocked');
    expect(scene.reply('done-five.json').reasons).toEqual([
      'five.txt is where Pulse writes the evidence of this bead: undo your change of it.',
    ]);
    expect(of('six').status).toBe('blocked');
    expect(scene.reply('done-six.json').reasons).toEqual([
      'six.txt/proof.md is where Pulse writes the evidence of this bead: undo your change of it.',
    ]);
    const { messages } = await pulse.mail.inbox({ agent_name: 'coordinator', project_key });
    expect(messages.find(({ subject }) => subject === 'Completed one')!.body_md).toContain(
      'Verification evidence: history/app/verification/one.md, docs/proof.json',
    );
  });

  it('knows its six inputs, and its brief has the bead', async () => {
    await using scene = await createSwarmScene();
    scene.decide('- D1: So.');
    await scene.bead('one', { body: 'Do it as D1 says.', decision_refs: ['D1'] });
    const env = 'env | grep ^PULSE_ | sort > "$OUT/env"';
    const unsaid = beadDone('unsaid.json');
    const said = beadDone('said.json', { decisions: [{ id: 'D1', how: 'so' }] });
    const id = await scene.start(`${env}; ${WRITE}; ${unsaid} || ${said}`, { hint: 'one', workers: 1 });
    await scene.drive(id);
    expect(scene.reply('unsaid.json').reasons).toEqual(['Say in decisions how the work honours D1.']);
    expect(scene.reply('said.json').ok).toBe(true);
    const { messages } = await scene.pulse.mail.list({
      topic: 'epic-app',
      project_key: scene.scratch.repository,
    });
    expect(messages.slice(0, 2)).toMatchObject([
      {
        subject: '[SWARM] app',
        thread_id: 'app',
        sender_name: 'coordinator',
        body_md: [
          'Runtime nicknames (PULSE_NICKNAME): worker-1',
          'Coordinator (PULSE_COORDINATOR): coordinator',
          'Epic thread (PULSE_THREAD): app',
          'Epic topic (PULSE_TOPIC): epic-app',
          'Startup hint (PULSE_HINT): one',
          'Feature (PULSE_FEATURE): app',
        ].join('\n'),
      },
      {
        subject: '[ONLINE] worker-1 / worker-1',
        body_md: expect.stringContaining('AGENTS.md: read (absent)'),
      },
    ]);
    const told = readFileSync(join(scene.scratch.path, 'env'), 'utf8');
    for (const line of [
      'PULSE_NICKNAME=worker-1',
      'PULSE_COORDINATOR=coordinator',
      'PULSE_THREAD=app',
      'PULSE_TOPIC=epic-app',
      'PULSE_HINT=one',
      'PULSE_FEATURE=app',
      'PULSE_UNIT=one',
    ])
      expect(told).toContain(line);
    expect(readFileSync(join(scene.scratch.path, 'brief-one-1'), 'utf8')).toContain('Write one');
  });
});

describe('the evidence of a bead', () => {
  it('names the report that a check writes', async () => {
    await using scene = await createSwarmScene();
    const command = 'echo "<testsuites/>" > report.xml; test -s one.txt';
    await scene.bead('one', { verify: [{ command, report: 'report.xml' }, { command: 'true' }] });
    const id = await scene.start(`${WRITE}; ${beadDone()}`, { standalone: true });
    const { session } = await scene.drive(id);
    const evidence = scene.scratch.git('show', `${session.branch_name}:history/app/verification/one.md`);
    expect(evidence.match(/^- Artifacts: .*$/gm)).toEqual(['- Artifacts: `report.xml`', '- Artifacts: none']);
  });
});

describe('a bead_done', () => {
  it('is refused with every reason: files outside, no word on its decisions, what its checks say', async () => {
    await using scene = await createSwarmScene();
    scene.decide('- D1: So.');
    await scene.bead('one', { decision_refs: ['D1'] });
    const first = `echo x > other.txt; ${beadDone('first.json')}`;
    const told = { decisions: [{ id: 'D1', how: 'as it says' }] };
    const second = `rm other.txt; ${WRITE}; ${beadDone('second.json', told)}`;
    const id = await scene.start(`${first}; ${second}`, { standalone: true });
    const { session } = await scene.drive(id);
    expect(scene.reply('first.json').reasons).toEqual([
      expect.stringContaining('other.txt'),
      expect.stringContaining('D1'),
      expect.stringMatching(/^test -s one\.txt: /),
    ]);
    expect(scene.reply('second.json')).toMatchObject({ ok: true });
    expect(session).toMatchObject({ status: 'complete' });
  });

  it('writes its evidence through no link that the agent has put in the way', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one');
    const exclude = 'echo history >> "$(git rev-parse --git-common-dir)/info/exclude"';
    const plant = `mkdir "$OUT/out"; ln -s "$OUT/out" history; ${exclude}`;
    const id = await scene.start(`${WRITE}; ${plant}; ${beadDone()}`, { standalone: true });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(existsSync(join(scene.scratch.path, 'out/app'))).toBe(false);
    expect(scene.scratch.git('show', `${session.branch_name}:history/app/verification/one.md`)).toContain(
      'one',
    );
  });

  it('that fails twice gets one run that looks for the cause, then the bead goes back', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one', { verify: [{ command: 'cat one.txt', expect: 'never' }] });
    await scene.bead('two');
    const work = `${WRITE}; ${beadDone()} || true`;
    const id = await scene.start(`[ $PULSE_UNIT = one ] && { ${work}; }; ${work}`, { standalone: true });
    const { session, beads } = await scene.drive(id);
    expect(beads).toMatchObject([
      { id: 'one', status: 'blocked' },
      { id: 'two', status: 'closed' },
    ]);
    expect(session, session.blocked_reason ?? '').toMatchObject({
      status: 'blocked',
      stop_reason: 'unresolved_issues',
    });
    const briefs = [1, 2, 3].map((n) => join(scene.scratch.path, `brief-one-${n}`)).filter(existsSync);
    expect(briefs).toHaveLength(2);
    expect(readFileSync(briefs[1]!, 'utf8')).toContain('does not contain');
    expect(await scene.subjects(id)).toEqual(['feat(two): write it']);
    const { messages } = await scene.pulse.mail.inbox({ agent_name: 'coordinator' });
    expect(messages.map(({ subject }) => subject)).toContain('Blocked one');
  });
});

describe('a bead with tests first', () => {
  const BEAD = {
    files: ['src/**', 'test/**', 'package.json'],
    verify: [{ command: 'node --test' }],
    testing_mode: 'tdd-required',
    tdd_steps: { red: 'node --test', green: 'node --test', expect: 'adds' },
  };
  const TEST = `mkdir -p test src; cat > test/add.test.mjs <<'X'
import assert from 'node:assert';
import test from 'node:test';
const { add } = await import('../src/add.mjs').catch(() => ({ add: () => 0 }));
test('adds', () => assert.equal(add(1, 2), 3));
X`;
  const CODE = `echo 'export const add = (a, b) => a + b;' > src/add.mjs`;
  const RED = (to: string) => `pulse tool tdd_red '{}' > "$OUT/${to}" || true`;

  it('is seen red before its code, green after, and both again at its close', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one', BEAD);
    const script = [RED('none.json'), TEST, RED('red.json'), CODE, RED('late.json'), beadDone()].join('\n');
    const id = await scene.start(script, { standalone: true });
    const { session } = await scene.drive(id);
    expect(scene.reply('none.json')).toMatchObject({ ok: false });
    expect(scene.reply('red.json')).toMatchObject({ ok: true });
    expect(scene.reply('late.json').reasons).toEqual(['src/add.mjs is no test file']);
    expect(session, JSON.stringify(scene.reply('done-one.json'))).toMatchObject({ status: 'complete' });
    const evidence = scene.scratch.git('show', `${session.branch_name}:history/app/verification/one.md`);
    expect(evidence).toMatch(/red[\s\S]*green/i);
  });

  it('is refused where its tests do not fail without its code, and for all else that fails', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one', { ...BEAD, verify: [...BEAD.verify, { command: 'test -s README.none' }] });
    const weaker = TEST.replace('add(1, 2), 3', '3, 3');
    const script = [TEST, RED('red.json'), weaker, CODE, `${beadDone()} || exit 0`].join('\n');
    const id = await scene.start(script, { standalone: true });
    await scene.drive(id);
    expect(scene.reply('done-one.json').reasons).toEqual([
      expect.stringContaining('It passes already'),
      expect.stringMatching(/^test -s README\.none: /),
    ]);
  });

  it('may import code that is still to be written, and nothing else that is not there', async () => {
    await using scene = await createSwarmScene();
    // What a test would say is not said by one that cannot be loaded.
    await scene.bead('one', { ...BEAD, tdd_steps: { red: 'node --test', green: 'node --test' } });
    const importing = (path: string) => TEST.replace(/^const .*$/m, `import { add } from '${path}';`);
    const script = [
      ...[importing('../lib/add.mjs'), RED('elsewhere.json'), importing('../src/add.mjs'), RED('red.json')],
      ...[CODE, beadDone()],
    ];
    const id = await scene.start(script.join('\n'), { standalone: true });
    const { session } = await scene.drive(id);
    expect(scene.reply('elsewhere.json').reasons?.[0]).toMatch(/No test failed.*lib\/add\.mjs/);
    expect(scene.reply('red.json'), JSON.stringify(scene.reply('red.json'))).toMatchObject({ ok: true });
    expect(session, JSON.stringify(scene.reply('done-one.json'))).toMatchObject({ status: 'complete' });
  });

  it('is refused as long as red was not seen, by the tool and by an exit', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('one', BEAD);
    const first = [TEST, CODE, `${beadDone('early.json')} || true`].join('\n');
    const second = 'echo all is done';
    const third = ['rm src/add.mjs', RED('red.json'), CODE, beadDone()].join('\n');
    const script = `case $PULSE_ITERATION in 1) ${first}\nexit 0;; 2) ${second};; *) ${third}\nesac`;
    const id = await scene.start(script, { standalone: true });
    const { session } = await scene.drive(id);
    expect(scene.reply('early.json').reasons).toEqual([
      expect.stringMatching(/tdd_red has not seen.*Call tdd_red/),
    ]);
    expect(scene.reply('red.json')).toMatchObject({ ok: true });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    const told = readFileSync(join(scene.scratch.path, 'brief-one-3'), 'utf8');
    expect(told).toMatch(/tdd_red has not seen/);
  });

  it('has tests where the setting says so, and nowhere else', async () => {
    await using scene = await createSwarmScene();
    await writeTrustedConfig(scene.scratch.repository, {
      text: 'tests: ["checks/**"]\n',
      environment: scene.environment,
    });
    const step = 'node --test checks/add.mjs';
    const steps = { red: step, green: step };
    await scene.bead('one', {
      ...{ ...BEAD, files: ['src/**', 'test/**', 'checks/**'] },
      ...{ verify: [{ command: step }], tdd_steps: steps },
    });
    const write = (path: string, to: string) =>
      `pulse tool write_file '${JSON.stringify({ path, content: '//' })}' > "$OUT/${to}" || true`;
    const test = TEST.replaceAll('test/add.test.mjs', 'checks/add.mjs').replace(
      'mkdir -p test',
      'mkdir -p checks',
    );
    const script = [
      ...[write('test/x.test.mjs', 'usual.json'), write('checks/other.mjs', 'set.json')],
      ...['mkdir -p test; echo x > test/y.test.mjs', test, RED('beside.json'), 'rm test/y.test.mjs'],
      ...[RED('red.json'), CODE, beadDone()],
    ];
    const id = await scene.start(script.join('\n'), { standalone: true });
    const { session } = await scene.drive(id);
    expect(JSON.stringify(scene.reply('usual.json'))).toMatch(/test\/x\.test\.mjs is no test file/);
    expect(scene.reply('set.json')).toMatchObject({ ok: true });
    expect(scene.reply('beside.json').reasons).toEqual(['test/y.test.mjs is no test file']);
    expect(scene.reply('red.json'), JSON.stringify(scene.reply('red.json'))).toMatchObject({ ok: true });
    expect(session, JSON.stringify(scene.reply('done-one.json'))).toMatchObject({ status: 'complete' });
    const brief = readFileSync(join(scene.scratch.path, 'brief-one-1'), 'utf8');
    expect(brief).toContain('only test files may change (`checks/**`)');
  });
});
