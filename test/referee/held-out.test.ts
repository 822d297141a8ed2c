/** Held-out checks: files that no agent sees, laid into the room for one command. */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sandboxState } from '../../src/process/sandbox-state.ts';
import { readHeldOut } from '../../src/referee/held-out.ts';
import { COMPLETE, makeScene, type Scene } from '../engine/scene.ts';
import { createScratch } from '../fakes/scratch.ts';
import { writeTrustedConfig } from '../fakes/trusted-config.ts';
import { createWorkflowScene, plan } from '../workflow/scene.ts';

const FILES = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test test/*.test.js' } }),
  'double.js': 'export const double = (n) => n;\n',
  'test/double.test.js': testOf('doubles two', 'double(2), 4', '..'),
};
const HELD = testOf('doubles seven', 'double(7), 14', '../..');
/** An answer that was written to the visible test. */
const CHEAT = `echo 'export const double = (n) => (n === 2 ? 4 : n);' > double.js`;
const HONEST = `echo 'export const double = (n) => n * 2;' > double.js`;
const CHECK = { to: 'test/held', command: 'node --test test/held/*.test.js' };

function testOf(name: string, assertion: string, above: string): string {
  return `import assert from 'node:assert';
import test from 'node:test';
import { double } from '${above}/double.js';
test('${name}', () => assert.equal(${assertion}, 'a secret word'));
`;
}

async function project(
  check: object = CHECK,
  { held = HELD, more = {} }: { held?: string | null; more?: object } = {},
): Promise<Scene> {
  const scene = await makeScene({ repo: { files: FILES } });
  const folder = join(scene.root, '.pulse/held-out');
  mkdirSync(folder, { recursive: true });
  if (held !== null) writeFileSync(join(folder, 'seven.test.js'), held);
  await config(scene, { verify: ['npm test'], heldOut: [check], ...more });
  return scene;
}

function config({ root, environment }: Scene, settings: object): Promise<void> {
  return writeTrustedConfig(root, { text: JSON.stringify(settings), environment });
}

describe('a held-out check', () => {
  it('refuses an answer that was written to the visible tests, and reveals names alone', async () => {
    const scene = await project();
    const session = await scene.startAndRun(
      `cat > ../brief-$PULSE_ITERATION; if [ $PULSE_ITERATION = 1 ]; then ${CHEAT}; else ${HONEST}; fi; ${COMPLETE}`,
      { maxIterations: 3 },
    );
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', trust: 'verified' });
    const { iterations } = await scene.pulse.show(session.id);
    expect(iterations.map(({ outcome }) => outcome)).toEqual(['rejected', 'completed']);
    const brief = iterations[1]!.task_content;
    expect(brief).toContain('A held-out check failed: doubles seven');
    for (const hidden of ['secret word', 'double(7)', 'seven.test.js', CHECK.command])
      expect(brief).not.toContain(hidden);
    const stored = JSON.stringify(await scene.pulse.export(session.id));
    expect(stored).not.toContain('secret word');
    expect(scene.sh(scene.root, 'ls-tree', '-r', '--name-only', session.branch_name)).not.toContain('seven');
  });

  it.each([
    ['nothing', 'A held-out check failed.', 'doubles seven'],
    ['output', 'secret word', null],
  ])('reveals %s where the config says so', async (reveal, told, hidden) => {
    const scene = await project({ ...CHECK, reveal });
    const session = await scene.startAndRun(`${CHEAT}; ${COMPLETE}`, { maxIterations: 1 });
    const { judgement } = await scene.pulse.showChecks(session.id);
    expect(judgement).toMatchObject({ verdict: 'rejected', heldOut: [{ holds: false }] });
    expect(judgement.reasons.join('\n')).toContain(told);
    if (hidden) expect(judgement.reasons.join('\n')).not.toContain(hidden);
  });

  it('judges where there is no visible one', async () => {
    const scene = await project(CHECK, { more: { verify: [] } });
    expect(await scene.startAndRun(`${CHEAT}; ${COMPLETE}`, { maxIterations: 1 })).toMatchObject({
      status: 'blocked',
    });
    expect(await scene.startAndRun(`${HONEST}; ${COMPLETE}`, { maxIterations: 1 })).toMatchObject({
      status: 'complete',
      trust: 'verified',
    });
  });

  it('is laid over what a claim has put in its place, and through no link out of the room', async () => {
    const scene = await project();
    const outside = join(scene.folder, 'outside');
    mkdirSync(outside);
    const plant = `rm -rf test/held; ln -s ${outside} test/held; echo > ${outside}/seven.test.js`;
    const session = await scene.startAndRun(`${plant}; ${CHEAT}; ${COMPLETE}`, { maxIterations: 1 });
    expect(session).toMatchObject({ status: 'blocked' });
    const { judgement } = await scene.pulse.showChecks(session.id);
    expect(judgement.reasons).toEqual(['A held-out check failed: doubles seven']);
    expect(readdirSync(outside)).toEqual(['seven.test.js']);
  });

  it('is not weakened by a setting of tests that the claim brings', async () => {
    const scene = await project({ to: 'test/held', command: 'npm run held' }, { more: {} });
    const manifest = JSON.parse(FILES['package.json']);
    manifest.scripts.held = CHECK.command;
    writeFileSync(join(scene.root, 'package.json'), JSON.stringify(manifest));
    scene.sh(scene.root, 'commit', '-qam', 'held');
    const weaken = `sed -i 's/node --test test.held[^"]*/true/' package.json`;
    const session = await scene.startAndRun(`${weaken}; ${CHEAT}; ${COMPLETE}`, { maxIterations: 1 });
    expect(session).toMatchObject({ status: 'blocked' });
    expect((await scene.pulse.showChecks(session.id)).judgement.reasons[0]).toContain('held-out');
  });

  it('whose files change while an agent works asks a person', async () => {
    const scene = await project();
    const file = join(scene.root, '.pulse/held-out/seven.test.js');
    const emptied = `printf "import test from 'node:test'; test('doubles seven', () => {})" > ${file}`;
    const session = await scene.startAndRun(`${emptied}; ${CHEAT}; ${COMPLETE}`, { maxIterations: 2 });
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'checks_changed' });
    expect(session.blocked_reason).toContain('not those that the session began with');
    const gone = await scene.startAndRun(`rm ${file}; ${HONEST}; ${COMPLETE}`, { maxIterations: 2 });
    expect(gone).toMatchObject({ status: 'blocked', stop_reason: 'checks_changed' });
  });

  it('is refused at the start where git tracks its files, where there are none, and where all would be held out', async () => {
    const scene = await project(CHECK, { held: null });
    const start = () => scene.start(`${HONEST}; ${COMPLETE}`);
    await expect(start()).rejects.toMatchObject({ code: 'invalid_config' });
    mkdirSync(join(scene.root, 'held'));
    writeFileSync(join(scene.root, 'held/seven.test.js'), HELD);
    await config(scene, { heldOut: [{ ...CHECK, from: 'held' }] });
    scene.sh(scene.root, 'add', 'held');
    scene.sh(scene.root, 'commit', '-qm', 'held');
    await expect(start()).rejects.toThrow('tracked by git');
    await config(scene, { heldOut: [{ ...CHECK, from: '.' }] });
    await expect(start()).rejects.toThrow('whole repository');
    for (const to of ['../up', '/tmp/x']) {
      await expect(config(scene, { heldOut: [{ ...CHECK, to }] })).rejects.toMatchObject({
        code: 'invalid_config',
      });
    }
  });

  it('leaves nothing in the room, and its record says what it is in the proof', async () => {
    const scene = await project();
    const session = await scene.startAndRun(`${HONEST}; ${COMPLETE}`);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    const { verifications } = await scene.pulse.showChecks(session.id);
    expect(verifications.map(({ isHeldOut = false }) => isHeldOut)).toEqual([false, true]);
    const [name = ''] = scene
      .sh(scene.root, 'ls-tree', '-r', '--name-only', 'refs/attestations/commits')
      .split('\n');
    const [line = ''] = scene.sh(scene.root, 'show', `refs/attestations/commits:${name}`).split('\n');
    const { predicate } = JSON.parse(atob(JSON.parse(line).payload));
    expect(predicate.commands).toMatchObject([{ command: 'npm test' }, { isHeldOut: true }]);
  });
});

describe('the files of a held-out check', () => {
  it('are ordinary ones alone', async () => {
    using scratch = createScratch();
    mkdirSync(join(scratch.path, 'held/deep'), { recursive: true });
    writeFileSync(join(scratch.path, 'secret'), 's');
    symlinkSync(join(scratch.path, 'secret'), join(scratch.path, 'held/link'));
    expect(await readHeldOut(join(scratch.path, 'held'), { to: '' })).toBeNull();
    writeFileSync(join(scratch.path, 'held/deep/one'), '1');
    const files = (await readHeldOut(join(scratch.path, 'held'), { to: 'x' }))!;
    mkdirSync(join(scratch.path, 'tree'));
    await files.lay(join(scratch.path, 'tree'));
    expect(readdirSync(join(scratch.path, 'tree'), { recursive: true })).toEqual([
      'x',
      'x/deep',
      'x/deep/one',
    ]);
    rmSync(join(scratch.path, 'held/deep/one'));
    expect(await readHeldOut(join(scratch.path, 'nowhere'), { to: '' })).toBeNull();
  });
});

describe('a pulse', () => {
  it('may leave a held-out check as it was, but for the last one', async () => {
    await using scene = await createWorkflowScene();
    const { repository: root, environment } = scene.scratch;
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    scene.scratch.git('add', '-A');
    scene.scratch.git('commit', '-q', '-m', 'chore: begin');
    mkdirSync(join(root, '.pulse/held-out'), { recursive: true });
    writeFileSync(join(root, '.pulse/held-out/seven.test.js'), HELD);
    await writeTrustedConfig(root, { text: JSON.stringify({ heldOut: [CHECK] }), environment });
    const done = (files: string[], to: string) =>
      `pulse tool pulse_done '${JSON.stringify({ summary: 'feat: double', filesChanged: files })}' > "$OUT/${to}"`;
    const id = await scene.start(plan('one', 'two'), {
      scripts: {
        one: `echo 1 > one.txt; ${done(['one.txt'], 'one.json')}`,
        two: `${CHEAT}; ${done(['double.js'], 'two.json')}; ${HONEST}; ${done(['double.js'], 'again.json')}`,
      },
    });
    await scene.drive(id);
    expect(scene.reply('one.json')).toMatchObject({ ok: true });
    expect(scene.reply('two.json')).toMatchObject({
      ok: false,
      reasons: ['A held-out check failed: doubles seven'],
    });
    expect(scene.reply('again.json')).toMatchObject({ ok: true });
  });
});

const state = await sandboxState(process.env.PATH);

describe.skipIf(!state.works)('in the sandbox (needs bubblewrap)', () => {
  it('neither an agent nor a visible check sees the held-out files, even where the repository is shown', async () => {
    const scene = await project();
    const held = join(scene.root, '.pulse/held-out');
    const look = `test ! -e ${held}/seven.test.js && test -d ${scene.root}/test`;
    await config(scene, { verify: [look], heldOut: [CHECK], sandboxRead: [scene.root] });
    const session = await scene.startAndRun('', {
      command: `if ${look}; then ${HONEST}; fi; ${COMPLETE}`,
      sandbox: 'on',
      maxIterations: 1,
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(existsSync(join(held, 'seven.test.js'))).toBe(true);
  });
});
