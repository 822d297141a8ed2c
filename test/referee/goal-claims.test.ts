/** Claims of the goal loop before the referee: real commands, real git, agents that are shell scripts. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPLETE, makeScene, type Scene, until } from '../engine/scene.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';

/** A project with one test that fails, and one that passes. */
const FILES = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test test/*.test.js' } }),
  '.gitignore': 'node_modules/\n',
  'add.js': 'export const add = (a, b) => a - b;\n',
  'test/add.test.js': `import assert from 'node:assert';
import test from 'node:test';
import { add } from '../add.js';
test('adds nothing', () => assert.equal(add(1, 0), 1));
test('adds two numbers', () => assert.equal(add(1, 2), 3));
`,
};
const VERIFY = ['npm test'];
const HONEST = `echo 'export const add = (a, b) => a + b;' > add.js; ${COMPLETE}`;

function project(files: Record<string, string> = FILES): Promise<Scene> {
  return makeScene({ repo: { files } });
}

/** What became of a claim: the session's end, and what the referee said of its last claim. */
async function claim(script: string, input: Parameters<Scene['start']>[1] = {}, files = FILES) {
  const scene = await project(files);
  const session = await scene.startAndRun(script, { verify: VERIFY, maxIterations: 1, ...input });
  const judged = await scene.pulse.showChecks(session.id).catch(() => null);
  return { scene, session, judged };
}

describe('what failed before any work', () => {
  it('is an event, stands in the brief, and is told apart where a claim is refused', async () => {
    const scene = await project();
    const script = `cat > '${scene.folder}/brief-'"$PULSE_ITERATION"; echo 'export const add = () => 1;' > add.js; ${COMPLETE}`;
    const session = await scene.startAndRun(script, { verify: VERIFY, maxIterations: 3 });
    const events = await scene.events(session);
    const told = events.filter(({ type }) => type === 'preflight.base');
    expect(told.map(({ iteration, data }) => [iteration, data])).toEqual([
      [1, { failed: [{ command: 'npm test', exit: 1, tests: ['adds two numbers'] }] }],
    ]);
    const { judgement } = await scene.pulse.showChecks(session.id);
    expect(judgement?.reasons).toEqual([
      expect.stringContaining('npm test failed (exit 1)'),
      'npm test failed on the base, too: adds two numbers',
    ]);
    const brief = readFileSync(join(scene.folder, 'brief-2'), 'utf8');
    expect(brief).toMatch(/Before any work[^`]+```text\nnpm test \(exit 1\): adds two numbers\n```/);
    expect(session.blocked_reason).toContain('failed on the base, too: adds two numbers');
  });
});

describe('an honest claim', () => {
  it('is accepted, and says how many tests ran', async () => {
    const { session, judged, scene } = await claim(HONEST);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', trust: 'verified' });
    expect(judged?.judgement).toMatchObject({ verdict: 'accepted', changes: [], replay: null });
    expect(judged?.verifications[0]?.tests).toMatchObject({ ran: 2, failed: 0 });
    expect(existsSync(join(scene.folder, 'state/rooms', session.id))).toBe(false);
  });

  it('may change tests as long as the old ones hold: they are replayed', async () => {
    const { session, judged } = await claim(
      `sed -i "s/adds nothing/adds zero/" test/add.test.js; echo "test('more', () => assert.equal(add(2, 2), 4));" >> test/add.test.js; ${HONEST}`,
    );
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', trust: 'verified' });
    expect(judged?.judgement).toMatchObject({
      verdict: 'accepted',
      changes: [{ path: 'test/add.test.js', what: 'changed' }],
      replay: { passed: true },
    });
  });

  it('may have checks that write the rest of a file that is protected in part', async () => {
    const bump = `sed -i 's/"type"/"version":"1.0.1","type"/' package.json`;
    const { session } = await claim(HONEST, { verify: [`npm test && ${bump}`] });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  });

  it('may add tests without a replay', async () => {
    const { session, judged } = await claim(
      `sed s/two/three/ test/add.test.js > test/more.test.js; ${HONEST}`,
    );
    expect(session).toMatchObject({ status: 'complete' });
    expect(judged?.judgement).toMatchObject({ changes: [], replay: null });
  });
});

const CHEATS: Record<string, string> = {
  'replaces the test script': `sed -i 's/node --test test.*js"/true"/' package.json`,
  'ignores the exit code': `sed -i 's/test\\/\\*.test.js"/test\\/*.test.js || true"/' package.json`,
  'deletes the failing test': `sed -i '/adds two/d' test/add.test.js`,
  'deletes the test file':
    'rm test/add.test.js; echo "import test from \\"node:test\\"; test(\\"x\\", () => {})" > test/x.test.js',
  'skips the failing test': `sed -i "s/test('adds two/test.skip('adds two/" test/add.test.js`,
  'makes it a todo': `sed -i "s/test('adds two/test.todo('adds two/" test/add.test.js`,
  'empties the failing test': `sed -i "s/test('adds two.*/test('adds two numbers', () => {});/" test/add.test.js`,
  'runs only the passing test': `sed -i "s/test('adds nothing/test.only('adds nothing/; " test/add.test.js; sed -i 's/node --test/node --test --test-only/' package.json`,
  'exits at the top of the test': `sed -i '1i process.exit(0);' test/add.test.js`,
  'plants another shell for scripts': `printf '#!/bin/sh\\nexit 0\\n' > sh; chmod +x sh; echo "script-shell=./sh" > .npmrc`,
  'filters by a name that matches nothing': `sed -i 's/node --test/node --test --test-name-pattern=zzz/' package.json`,
  'plants a node beside the modules': `mkdir -p node_modules/.bin; printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/node; chmod +x node_modules/.bin/node`,
  'exits in the code under test': `echo "process.exit(0);" > add.js; echo "export const add = 1;" >> add.js`,
  'fails once and then passes': `cat > add.js <<'X'
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
const second = existsSync(tmpdir() + '/once');
writeFileSync(tmpdir() + '/once', '');
export const add = (a, b) => (second ? a + b : a - b);
X`,
  'fails once and then passes, by a file outside of the room': `cat > add.js <<X
import { existsSync, writeFileSync } from 'node:fs';
const second = existsSync('$(dirname "$PWD")/once');
writeFileSync('$(dirname "$PWD")/once', '');
export const add = (a, b) => (second ? a + b : a - b);
X`,
  'rewrites the test while it runs': `cat > add.js <<'X'
import { writeFileSync } from 'node:fs';
writeFileSync(new URL('./test/add.test.js', import.meta.url), "import test from 'node:test'; test('adds nothing', () => {}); test('adds two numbers', () => {});");
export const add = (a, b) => a - b;
X`,
};

describe('a claim that', () => {
  it.each(Object.entries(CHEATS))('%s is not accepted', async (_, cheat) => {
    const { session, judged } = await claim(`${cheat}\n${COMPLETE}`);
    expect(session.status, session.blocked_reason ?? '').toBe('blocked');
    expect(judged?.judgement.verdict).toBe('rejected');
    // It would have been a pass where the agent has worked: at once, or when it is asked again.
    const npmTest = () => spawnSync('npm', ['test'], { cwd: session.worktree_path });
    expect([npmTest(), npmTest()].map(({ status }) => status)).toContain(0);
  });
});

const DECLARED = `sed -i "s/3)/-1)/" test/add.test.js; sed -i "s/add(1, 0), 1/add(1, 0), 1/" test/add.test.js; echo '<checks_changed>test/add.test.js: add must subtract</checks_changed>'; ${COMPLETE}`;

describe('a claim whose checks cannot hold', () => {
  it('is rejected with what to do, undeclared', async () => {
    const { session, judged } = await claim(`sed -i "s/3)/-1)/" test/add.test.js; ${COMPLETE}`);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'iteration_limit' });
    expect(judged?.judgement.verdict).toBe('rejected');
    expect(judged?.judgement.reasons.join('\n')).toContain('checks_changed');
  });

  it('asks a person once it is declared; accepted, it completes and says so', async () => {
    const { scene, session, judged } = await claim(DECLARED, { maxIterations: 3 });
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'checks_changed', current_iteration: 1 });
    expect(judged?.judgement).toMatchObject({ verdict: 'ask', replay: { passed: false } });
    expect(judged?.diff).toContain('-1)');
    await expect(scene.pulse.resume(session.id, {})).rejects.toMatchObject({ code: 'wrong_command' });
    await scene.pulse.accept(session.id, {});
    expect(await scene.run(session)).toMatchObject({
      status: 'complete',
      trust: 'verified_checks_changed',
      current_iteration: 1,
    });
    await expect(scene.pulse.accept(session.id, {})).rejects.toMatchObject({ code: 'invalid_transition' });
  });

  it('rejected by a person, it goes to the next run with the words', async () => {
    const { scene, session } = await claim(
      `if [ "$PULSE_ITERATION" = 1 ]; then\n${DECLARED}\nelse cat > ../brief; git checkout -q HEAD~1 -- test; ${HONEST}; fi`,
      { maxIterations: 3 },
    );
    await scene.pulse.reject(session.id, { text: 'Adding is right.' });
    expect(await scene.run(session)).toMatchObject({ status: 'complete', trust: 'verified' });
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations.map(({ outcome }) => outcome)).toEqual(['rejected', 'completed']);
    expect(iterations[1]?.task_content).toContain('Adding is right.');
  });

  it('completes where checks may change, and says so', async () => {
    const { session } = await claim(DECLARED, { checks: 'allow' });
    expect(session).toMatchObject({ status: 'complete', trust: 'verified_checks_changed' });
  });

  it('is always rejected where they may not', async () => {
    const { session, judged } = await claim(DECLARED, { checks: 'forbid' });
    expect([session.status, judged?.judgement.verdict]).toEqual(['blocked', 'rejected']);
  });
});

describe('the base', () => {
  it('stops a session whose check cannot be found before any agent runs', async () => {
    const { session, scene } = await claim(`echo ran > ../ran; ${HONEST}`, { verify: ['no-such-program'] });
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(session.blocked_reason).toContain('no-such-program');
    expect(existsSync(join(scene.folder, 'state/worktrees/ran'))).toBe(false);
  });

  it('is not read where nobody wants it', async () => {
    const { session } = await claim(`printf '#!/bin/sh\\nexit 0\\n' > check.sh; ${COMPLETE}`, {
      verify: ['sh ./check.sh'],
      noBase: true,
    });
    expect(session).toMatchObject({ status: 'complete' });
  });
});

describe('an accepted claim', () => {
  it('is proven beside the history, once', async () => {
    const { scene, session, judged } = await claim(HONEST);
    const commit = scene.sh(scene.root, 'rev-parse', session.branch_name);
    const names = scene.sh(scene.root, 'ls-tree', '-r', '--name-only', 'refs/attestations/commits');
    expect(names.split('\n')).toEqual([judged?.judgement.proof]);
    expect(names.startsWith(`${commit}/pulse-`)).toBe(true);
    const lines = scene.sh(scene.root, 'show', `refs/attestations/commits:${names}`).split('\n');
    const [statement] = lines.map((line) => JSON.parse(atob(JSON.parse(line).payload)));
    expect(statement.predicate).toMatchObject({
      trust: 'verified',
      session: session.id,
      commands: [{ command: 'npm test', exit: 0, tests: { base: { run: 2 }, claim: { run: 2, passed: 2 } } }],
      decision: { by: 'pulse' },
    });
    expect(statement.predicate.pins.listed).toContainEqual(
      expect.objectContaining({ path: 'package.json', part: expect.stringContaining('scripts') }),
    );
    expect((await scene.events(session)).at(-1)?.type).toBe('session.ended');
  });

  it('says who accepted changed checks, and what the diff adds that a person should see', async () => {
    const { scene, session } = await claim(
      `sed -i "s/test('adds two/test.skip('adds two/" test/add.test.js; ${DECLARED}`,
    );
    const { judgement } = await scene.pulse.showChecks(session.id);
    expect(judgement.notes).toMatchObject([{ path: 'test/add.test.js', what: 'skip' }]);
    await scene.pulse.accept(session.id, { actor: 'Ada' });
    await scene.run(session);
    const [name = ''] = scene
      .sh(scene.root, 'ls-tree', '-r', '--name-only', 'refs/attestations/commits')
      .split('\n');
    const [line = ''] = scene.sh(scene.root, 'show', `refs/attestations/commits:${name}`).split('\n');
    const { predicate } = JSON.parse(atob(JSON.parse(line).payload));
    expect(predicate).toMatchObject({
      trust: 'verified_checks_changed',
      decision: { by: 'person', name: 'Ada' },
      replay: { passed: false },
    });
  });
});

describe('while the checks of the base run,', () => {
  it('a person who pauses or aborts is obeyed at once, and a Pulse that is shut down leaves all as it is', async () => {
    const scene = await project();
    const began = (name: string) => join(scene.folder, name);
    const slow = (name: string) => [`touch ${began(name)}; sleep 60`];
    const session = await scene.start(HONEST, { verify: slow('first') });
    const shutdown = new AbortController();
    const shut = scene.pulse.run(session.id, shutdown.signal);
    await until(() => existsSync(began('first')));
    shutdown.abort();
    await shut;
    expect((await scene.pulse.show(session.id)).session).toMatchObject({ status: 'running' });
    rmSync(began('first'));
    const paused = scene.run(session);
    await until(() => existsSync(began('first')));
    await scene.pulse.pause(session.id, { now: true });
    expect(await paused).toMatchObject({ status: 'paused', stop_reason: 'paused_by_user' });
    await scene.pulse.resume(session.id, { verify: slow('second') });
    const aborted = scene.run(session);
    await until(() => existsSync(began('second')));
    await scene.pulse.abort(session.id);
    expect(await aborted).toMatchObject({ status: 'aborted' });
  });
});

describe('a secret that a test prints', () => {
  it('is stored nowhere, not even as the name of the test', async () => {
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB';
    const test = FILES['test/add.test.js'].replace('adds two numbers', `adds ${secret}`);
    const files = { ...FILES, 'test/add.test.js': test };
    const { scene, session } = await claim(`true; ${COMPLETE}`, {}, files);
    const rows = await scene.store.read((db) =>
      db.selectFrom('check_runs').selectAll().where('session_id', '=', session.id).execute(),
    );
    expect(rows.length).toBeGreaterThan(0);
    const stored = JSON.stringify([
      rows,
      await scene.pulse.showChecks(session.id),
      await scene.events(session),
    ]);
    expect(stored).not.toContain(secret);
  });
});

describe('a report', () => {
  it('that lies behind a link out of the room is neither deleted nor read', async () => {
    const scene = await project();
    const outside = join(scene.folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'junit.xml'), '<testsuites/>');
    const report = { command: 'npm test', report: 'reports/junit.xml' };
    await writeTrustedConfig(scene.root, {
      text: JSON.stringify({ verify: [report] }),
      environment: scene.environment,
    });
    const session = await scene.startAndRun(`ln -s ${outside} reports; ${HONEST}`, { maxIterations: 1 });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(existsSync(join(outside, 'junit.xml'))).toBe(true);
  });
});

describe('what ran on a tree', () => {
  it('is not run again on the same tree', async () => {
    const scene = await project();
    const log = join(scene.folder, 'log');
    const session = await scene.startAndRun(`${HONEST}`, {
      verify: [`echo run >> ${log}; npm test`],
      maxIterations: 1,
    });
    expect(session.status).toBe('complete');
    const again = await scene.startAndRun(COMPLETE, { verify: [`echo again >> ${log}; true`] });
    expect(again).toMatchObject({ status: 'complete' });
    const { verifications } = await scene.pulse.showChecks(again.id);
    expect(verifications).toMatchObject([{ passed: true, isReused: true }]);
  });

  it('is run again where the environment is another one', async () => {
    const scene = await project();
    const log = join(scene.folder, 'log');
    const script = `if [ -e ${log}.asked ]; then ${COMPLETE}
else touch ${log}.asked; pulse tool pulse_signal '{"signal": "BLOCKED", "reason": "Now?"}'; fi`;
    const runs = async (changed: Record<string, string>) => {
      for (const path of [log, `${log}.asked`]) rmSync(path, { force: true });
      const blocked = await scene.startAndRun(script, { verify: [`echo run >> ${log}`], maxIterations: 2 });
      expect(blocked.status).toBe('blocked');
      Object.assign(scene.environment, changed);
      await scene.pulse.resume(blocked.id, { actor: 'test', answer: 'Now.' });
      expect((await scene.run(blocked)).status).toBe('complete');
      return readFileSync(log, 'utf8').trim().split('\n').length;
    };
    expect(await runs({})).toBe(1);
    expect(await runs({ TERM: 'dumb' })).toBe(1);
    expect(await runs({ TZ: 'Asia/Tokyo' })).toBe(2);
  });
});
