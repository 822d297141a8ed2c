/** The completion protocol on a real TypeScript repository that has type errors and a failing test of its own. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { badModule, FAULTY_CHECKS, goodModule, writeFaultyFiles } from '../fakes/old-faults.ts';
import { ACTOR, createWorkflowScene, done, plan, type WorkflowScene } from './scene.ts';

const CHECKS = FAULTY_CHECKS;

function oldFaults({ scratch }: WorkflowScene): void {
  writeFaultyFiles(scratch.repository);
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'chore: what was there before');
}

const GOOD = `echo '${goodModule('greet')}' > src/greet.ts`;
const BAD = `echo '${badModule('greet')}' > src/greet.ts`;

describe('completion', () => {
  it('ignores what was there before, refuses a new error with all reasons, and reveals the hatch at the second refusal', async () => {
    await using scene = await createWorkflowScene();
    oldFaults(scene);
    const script = [
      BAD,
      done('Added a greeting', [], { to: '1.json' }),
      done('feat: greet', ['src/greet.ts'], { to: '2.json' }),
      GOOD,
      done('feat: greet', ['src/greet.ts'], { to: '3.json' }),
    ].join('\n');
    const id = await scene.start({ ...plan('one'), verify: CHECKS }, { scripts: { one: script } });
    const { session, pulses, baseline, preflight } = await scene.drive(id);

    expect(preflight).toMatchObject({ status: 'completed', build_success: 0 });
    expect(baseline.map(({ source, issueType, filePath }) => [source, issueType, filePath])).toEqual(
      expect.arrayContaining([
        ['Build', 'Error', 'src/legacy.ts'],
        ['Test', 'Error', 'test/legacy.test.js'],
      ]),
    );
    const first = scene.reply('1.json');
    expect(first.ok).toBe(false);
    expect(first.reasons).toHaveLength(3);
    expect(first.reasons!.join('\n')).toContain('Conventional Commit');
    expect(first.reasons!.join('\n')).toContain('missing: src/greet.ts');
    expect(first.reasons!.join('\n')).toContain('src/greet.ts');
    expect(first.reasons!.join('\n')).toContain('TS2322');
    expect(first.reasons!.join('\n')).not.toContain('legacy');
    expect(first.output).not.toContain('unresolvedIssues');
    const second = scene.reply('2.json');
    expect(second.reasons).toHaveLength(1);
    expect(second.output).toContain('unresolvedIssues');
    expect(scene.reply('3.json').ok).toBe(true);
    expect(pulses[0]).toMatchObject({ status: 'succeeded', rejections: 2, has_unresolved_issues: 0 });
    expect(session.stop_reason).toBe('approval_required');
    expect(await scene.subjects(id)).toEqual(['feat: greet']);
    const { verifications: records } = await scene.pulse.showEvidence(id);
    expect(records.map(({ command }) => command)).toEqual(CHECKS.map(({ command }) => command));
  }, 120_000);

  it('refuses the hatch before it was named; used after that it halts, and a person goes on', async () => {
    await using scene = await createWorkflowScene();
    oldFaults(scene);
    const issues = [{ issue: 'greet has the wrong type', reason: 'needs a decision' }];
    const use = (to: string) => done('feat: greet', ['src/greet.ts'], { to, issues });
    const script = [BAD, use('1.json'), use('2.json'), use('3.json')].join('\n');
    const more = BAD.replaceAll('greet', 'more');
    const two = [
      // Another fault of the same kind is this pulse's own.
      more,
      done('feat: more', ['src/more.ts'], { to: '4.json' }),
      GOOD.replaceAll('greet', 'more'),
      done('feat: more', ['src/more.ts'], { to: '5.json' }),
    ].join('\n');
    const id = await scene.start(
      { ...plan('one', 'two'), verify: CHECKS },
      { scripts: { one: script, two } },
    );
    const halted = await scene.drive(id);
    expect(scene.reply('1.json').reasons!.join('\n')).toContain('cannot be used yet');
    expect(scene.reply('2.json').ok).toBe(false);
    expect(scene.reply('3.json').ok).toBe(true);
    expect(halted.session).toMatchObject({
      status: 'blocked',
      stop_reason: 'unresolved_issues',
      trust: 'unverified',
    });
    expect(halted.pulses[0]).toMatchObject({
      status: 'succeeded',
      has_unresolved_issues: 1,
      unresolved_issues: issues,
    });
    expect(halted.pulses[1]!.status).toBe('proposed');
    await scene.pulse.resume(id, { actor: ACTOR });
    const { session, pulses, baseline } = await scene.drive(id);
    expect(pulses.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    // One pulse whose checks hold does not mend another.
    expect(session.trust).toBe('unverified');
    // What a person went on with is known from then on: the next pulse is not blamed for it.
    expect(baseline.map(({ filePath }) => filePath)).toContain('src/greet.ts');
    expect(scene.reply('4.json').reasons!.join('\n')).toContain('src/more.ts');
    expect(scene.reply('4.json').reasons!.join('\n')).not.toContain('src/greet.ts');
    expect(scene.reply('5.json').ok).toBe(true);
  }, 120_000);

  it('holds a failed tool call against the pulse until it has succeeded', async () => {
    await using scene = await createWorkflowScene();
    const call = (name: string, input: unknown): string => `pulse tool ${name} '${JSON.stringify(input)}'`;
    const script = [
      'echo a > a.txt',
      call('edit_file', { path: 'a.txt', oldString: 'nothing of it', newString: 'b' }),
      done('feat: a', ['a.txt'], { to: '1.json' }),
      call('read_file', { path: 'a.txt' }),
      call('edit_file', { path: 'a.txt', oldString: 'a', newString: 'b' }),
      done('feat: a', ['a.txt'], { to: '2.json' }),
    ].join('\n');
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    await scene.drive(id);
    expect(scene.reply('1.json').reasons!.join('\n')).toContain('edit_file a.txt');
    expect(scene.reply('2.json').ok).toBe(true);
  });

  it('commits what was checked, not what is written meanwhile, nor what the checks themselves leave', async () => {
    await using scene = await createWorkflowScene();
    const { path } = scene.scratch;
    // The agent writes on while the check runs, and the check leaves something of its own.
    const command = `if [ -f a.txt ]; then echo x > report.out; touch ${path}/checking; while [ ! -f ${path}/written ]; do sleep 0.05; done; grep -q good a.txt; fi`;
    const verify = [{ command, source: 'Build' }];
    const script = [
      'echo good > a.txt',
      `(while [ ! -f ${path}/checking ]; do sleep 0.05; done; echo worse > a.txt; touch ${path}/written) &`,
      done('feat: a', ['a.txt'], { to: '1.json' }),
    ].join('\n');
    const id = await scene.start({ ...plan('one'), verify }, { scripts: { one: script } });
    const { session } = await scene.drive(id);
    expect(scene.reply('1.json').ok).toBe(true);
    expect(scene.scratch.git('show', `${session.branch_name}:a.txt`)).toBe('good');
    expect(scene.scratch.git('ls-tree', '--name-only', session.branch_name)).toBe('README.md\na.txt');
  });

  it("runs the repository's hooks while it judges, and what they change is part of the pulse", async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const hook = (name: string, body: string): void =>
      writeFileSync(join(scratch.repository, '.git/hooks', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    hook(
      'pre-commit',
      'grep -q bad a.txt && { echo "no bad words"; exit 1; }\necho formatted >> a.txt\nexit 0',
    );
    hook('commit-msg', 'grep -q "Ticket:" "$1" || { echo "no ticket"; exit 1; }');
    const script = [
      'echo bad > a.txt',
      done('feat: a', ['a.txt'], { to: '1.json' }),
      'echo good > a.txt',
      done('feat: a\n\nTicket: 7', ['a.txt'], { to: '2.json' }),
    ].join('\n');
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const { session } = await scene.drive(id);
    const reasons = scene.reply('1.json').reasons!.join('\n');
    expect(reasons).toContain('no bad words');
    expect(reasons).toContain('no ticket');
    expect(scene.reply('2.json').ok).toBe(true);
    expect(scratch.git('show', `${session.branch_name}:a.txt`)).toBe('good\nformatted');
    expect(scratch.git('log', '-1', '--format=%b', session.branch_name)).toContain('Ticket: 7');
  });

  it('commits the message as the commit-msg hook leaves it, if it is one still', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const hook = 'grep -q wip "$1" && echo "WIP" > "$1" || printf "\\nChange-Id: I%s\\n" 42 >> "$1"\n';
    writeFileSync(join(scratch.repository, '.git/hooks/commit-msg'), `#!/bin/sh\n${hook}`, { mode: 0o755 });
    const script = [
      'echo a > a.txt',
      done('feat: wip', ['a.txt'], { to: '1.json' }),
      done('feat: a\n\nSay why.', ['a.txt'], { to: '2.json' }),
    ].join('\n');
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    const { session, pulses } = await scene.drive(id);
    expect(scene.reply('1.json').reasons!.join('\n')).toMatch(/commit-msg hook left it: .*"WIP"/);
    expect(scene.reply('2.json').ok).toBe(true);
    expect(pulses[0]!.description).toBe('feat: a\n\nSay why.\n\nChange-Id: I42');
    const format =
      '--format=%s|%(trailers:key=Change-Id,valueonly,separator=)|%(trailers:key=Pulse-Pulse,valueonly,separator=)';
    expect(scratch.git('log', '-1', format, session.branch_name)).toBe('feat: a|I42|one');
  });

  it('reads no file that a commit-msg hook has put a link to in the place of the message', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    const secret = join(scratch.repository, '..', 'secret');
    writeFileSync(secret, 'TOP-SECRET-WORDS\n');
    const hook = `rm "$1"; ln -s ${secret} "$1"`;
    writeFileSync(join(scratch.repository, '.git/hooks/commit-msg'), `#!/bin/sh\n${hook}\n`, { mode: 0o755 });
    const script = ['echo a > a.txt', done('feat: a', ['a.txt'], { to: '1.json' })].join('\n');
    const id = await scene.start(plan('one'), { scripts: { one: script } });
    await scene.drive(id);
    const reasons = scene.reply('1.json').reasons!.join('\n');
    expect(reasons).toContain('left no ordinary file');
    expect(reasons).not.toContain('TOP-SECRET');
  });

  it('fails preflight that changes tracked files, and gives them back', async () => {
    await using scene = await createWorkflowScene();
    const id = await scene.start(
      { ...plan('one'), preflight: ['echo changed > README.md'] },
      { scripts: { one: 'true' } },
    );
    const { session, preflight } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(preflight!.error_message).toContain('README.md');
    expect(scene.scratch.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  });

  it('tells which command of preflight is in hand', async () => {
    await using scene = await createWorkflowScene();
    const { scratch, pulse } = scene;
    const wait = `touch ${scratch.path}/began; while [ ! -f ${scratch.path}/go ]; do sleep 0.05; done`;
    const id = await scene.start(
      { ...plan('one'), preflight: [wait], verify: [{ command: 'true', source: 'Build' }] },
      { scripts: { one: done('chore: nothing', []) } },
    );
    const running = scene.drive(id);
    await expect.poll(() => existsSync(join(scratch.path, 'began')), { timeout: 20_000 }).toBe(true);
    expect((await pulse.workflow.rows(id)).preflight!.progress_message).toBe(`setup: ${wait}`);
    scratch.file('go', '');
    expect((await running).preflight!.progress_message).toBe(null);
    const { events } = await pulse.export(id);
    const told = events.filter(({ type }) => type === 'preflight.progress').map(({ data }) => data.message);
    expect(told).toEqual([`setup: ${wait}`, 'check: true']);
  });

  it('keeps what preflight left out of commits and between pulses', async () => {
    await using scene = await createWorkflowScene();
    const script = (name: string): string =>
      `test -f build/out || exit 1\necho ${name} > ${name}\n${done(`feat: ${name}`, [name], { to: `${name}.json` })}`;
    const id = await scene.start(
      { ...plan('one', 'two'), preflight: ['mkdir -p build && echo built > build/out'] },
      { scripts: { one: script('one'), two: script('two') } },
    );
    const { session, workflow } = await scene.drive(id);
    expect(workflow.artifacts).toEqual(['build/out']);
    expect(scene.scratch.git('ls-tree', '-r', '--name-only', session.branch_name)).toBe(
      'README.md\none\ntwo',
    );
  });

  it('commits what a pulse adds beside what preflight left, and never what was ignored then', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    writeFileSync(join(scratch.repository, '.gitignore'), 'dist/\n');
    scratch.git('add', '-A');
    scratch.git('commit', '-q', '-m', 'chore: ignore what is built');
    const one = `echo own > gen/own; echo made/ > .gitignore\n${done('feat: own', ['.gitignore', 'gen/own'])}`;
    const two = `test -f dist/app && test -f gen/made && test -f made/it || exit 1\necho 2 > two\n${done('feat: two', ['two'])}`;
    const preflight = ['mkdir dist gen made && echo 1 | tee dist/app gen/made > made/it'];
    const id = await scene.start({ ...plan('one', 'two'), preflight }, { scripts: { one, two } });
    const { session, workflow } = await scene.drive(id);
    expect(workflow.artifacts).toEqual(['gen/made', 'made/it', 'dist']);
    expect(await scene.subjects(id)).toEqual(['feat: own', 'feat: two']);
    expect(scratch.git('ls-tree', '-r', '--name-only', session.branch_name).split('\n')).toEqual([
      '.gitignore',
      'README.md',
      'gen/own',
      'two',
    ]);
  });

  it('has an agent do what the files do not say, checks what it tells, and keeps what it recorded', async () => {
    await using scene = await createWorkflowScene();
    const { scratch } = scene;
    writeFileSync(join(scratch.repository, 'CMakeLists.txt'), 'project(x)\n');
    scratch.git('add', '-A');
    scratch.git('commit', '-q', '-m', 'build: cmake');
    const call = (name: string, input: unknown, to: string): string =>
      `pulse tool ${name} '${JSON.stringify(input)}' > "$OUT/${to}"`;
    const end = { summary: 'made it ready', setupCommands: ['mkdir build'], buildSuccess: false };
    const preflight = [
      'mkdir build && echo built > build/out',
      call('write_file', { path: 'x', content: 'x' }, 'refused.json'),
      call('preflight_done', { ...end, baselinesRecorded: 1 }, '1.json'),
      call('record_baseline', { issueType: 'Error', source: 'Build', pattern: 'C1234' }, '2.json'),
      call('preflight_done', { ...end, baselinesRecorded: 1 }, '3.json'),
    ].join('\n');
    const one = `echo x > x\n${done('feat: x', ['x'])}`;
    const id = await scene.start(plan('one'), { scripts: { preflight, one } });
    const { session, preflight: setup, baseline, workflow } = await scene.drive(id);
    expect(scene.reply('refused.json').ok).toBe(false);
    expect(scene.reply('1.json').reasons).toHaveLength(2);
    expect(scene.reply('3.json').ok).toBe(true);
    expect(setup).toMatchObject({ status: 'completed', summary: 'made it ready', build_success: 0 });
    expect(baseline).toMatchObject([{ command: null, pattern: 'C1234' }]);
    expect(workflow.artifacts).toEqual(['build/out']);
    expect(session.stop_reason).toBe('approval_required');
  });

  it('has what the agent records in the store at once, and of a run that is done again only its own', async () => {
    await using scene = await createWorkflowScene();
    writeFileSync(join(scene.scratch.repository, 'CMakeLists.txt'), 'project(x)\n');
    scene.scratch.git('add', '-A');
    scene.scratch.git('commit', '-q', '-m', 'build: cmake');
    const record = (pattern: string) =>
      `pulse tool record_baseline '${JSON.stringify({ issueType: 'Error', source: 'Build', pattern })}' > /dev/null`;
    const end = { summary: 'ready', setupCommands: [], buildSuccess: false, baselinesRecorded: 1 };
    // Two in the first run, which does not get to its end; one in the second.
    const preflight = `isAgain=$(test -e "$OUT/end.json" && echo yes)
      test "$isAgain" || ${record('C1')}
      ${record('C2')}
      pulse tool preflight_done '${JSON.stringify(end)}' > "$OUT/half"; mv "$OUT/half" "$OUT/end.json"
      test "$isAgain" || sleep 600`;
    const one = `echo x > x\n${done('feat: x', ['x'])}`;
    const id = await scene.start(plan('one'), { scripts: { preflight, one } });
    const leave = new AbortController();
    const left = scene.pulse.run(id, leave.signal);
    await vi.waitFor(() => expect(existsSync(join(scene.scratch.path, 'end.json'))).toBe(true), 20_000);
    leave.abort('paused');
    await left;
    expect(scene.reply('end.json').reasons).toEqual([expect.stringContaining('but 2 were recorded')]);
    using database = new DatabaseSync(scene.pulse.home.database, { readOnly: true });
    const stored = database.prepare(
      'SELECT pattern, recorded_by IS NULL AS isSettled FROM preflight_baselines',
    );
    expect(stored.all()).toEqual([
      { pattern: 'C1', isSettled: 0 },
      { pattern: 'C2', isSettled: 0 },
    ]);
    const { baseline } = await scene.drive(id);
    expect(scene.reply('end.json')).toMatchObject({ ok: true });
    expect(baseline).toMatchObject([{ pattern: 'C2' }]);
    expect(stored.all()).toEqual([{ pattern: 'C2', isSettled: 1 }]);
  });

  it('fails when the preflight agent ends without its word', async () => {
    await using scene = await createWorkflowScene();
    writeFileSync(join(scene.scratch.repository, 'CMakeLists.txt'), 'project(x)\n');
    scene.scratch.git('add', '-A');
    scene.scratch.git('commit', '-q', '-m', 'build: cmake');
    const id = await scene.start(plan('one'), { scripts: { preflight: 'true' } });
    const { session } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(session.blocked_reason).toContain('preflight_done');
  });
});
