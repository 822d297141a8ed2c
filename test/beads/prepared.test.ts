/** Workers begin with a copy of what setup made once. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyPrepared } from '../../src/engine/workspace/copy-prepared.ts';
import { createGit } from '../../src/git/exec.ts';
import { capture } from '../../src/process/capture.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { beadDone, createSwarmScene } from './swarm-scene.ts';

const SETUP = `echo run >> "$OUT/setups"; mkdir -p node_modules/.bin; echo 'echo ok' > node_modules/.bin/tool; ln -s .bin node_modules/link`;

describe('the workers of a swarm', () => {
  it('start with what setup made once, and so do their rooms and the merge queue', async () => {
    await using scene = await createSwarmScene();
    const { scratch } = scene;
    writeFileSync(join(scratch.repository, '.gitignore'), 'node_modules\n.pulse\n');
    scratch.git('add', '-A');
    scratch.git('commit', '-q', '-m', 'ignore');
    const ids = ['a', 'b', 'c'];
    for (const id of ids)
      await scene.bead(id, { verify: [{ command: `sh node_modules/.bin/tool && test -s ${id}.txt` }] });
    const meet = ids.map((id) => `[ -f "$OUT/${id}.at" ]`).join(' && ');
    const wait = `touch "$OUT/$PULSE_UNIT.at"; for i in $(seq 600); do ${meet} && break; sleep 0.05; done`;
    const work = `cp node_modules/link/tool $PULSE_UNIT.txt; echo broken > node_modules/.bin/tool`;
    const setup = [SETUP.replaceAll('$OUT', scratch.path)];
    const id = await scene.start(`${wait}; ${work}; ${beadDone()}`, { workers: 3, setup });
    const { session, beads } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(beads.every(({ status }) => status === 'closed')).toBe(true);
    expect(readFileSync(join(scratch.path, 'setups'), 'utf8')).toBe('run\n');
  });

  it('do not begin where setup fails, and say why once', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a');
    const id = await scene.start('true', { workers: 3, setup: ['echo no registry; exit 1'] });
    const { session, workers } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'failed', stop_reason: 'preflight_failed' });
    expect(session.blocked_reason).toContain('no registry');
    expect(workers).toEqual([]);
  });
});

describe('what setup made', () => {
  function prepareTwo(scratch: Scratch) {
    const git = createGit({ exec: (call) => capture({ file: 'git', ...call }), env: scratch.environment });
    const [from, to] = ['from', 'to'].map((name) => join(scratch.path, name)) as [string, string];
    for (const place of [from, to]) scratch.git('worktree', 'add', '-q', '--detach', place);
    const marker = join(scratch.repository, '.git/worktrees/from/pulse-prepared');
    writeFileSync(marker, 'same');
    return { git, from, to, marker, copy: () => copyPrepared(git, { from, to, mark: 'same' }) };
  }

  it('is copied only from where the same was set up, and never where it leads back', async () => {
    using scratch = createScratch();
    const { from, to, marker, copy } = prepareTwo(scratch);
    mkdirSync(join(from, 'node_modules'));
    writeFileSync(join(from, 'node_modules/a.js'), 'a');
    rmSync(marker);
    expect(await copy()).toBe(false);
    writeFileSync(marker, 'other');
    expect(await copy()).toBe(false);
    expect(existsSync(join(to, 'node_modules'))).toBe(false);
    writeFileSync(marker, 'same');
    mkdirSync(join(to, 'node_modules'));
    writeFileSync(join(to, 'node_modules/half.js'), 'of a copy that broke off');
    expect(await copy()).toBe(true);
    expect(readFileSync(join(to, 'node_modules/a.js'), 'utf8')).toBe('a');
    expect(existsSync(join(to, 'node_modules/half.js'))).toBe(false);
    symlinkSync(join(from, 'node_modules/a.js'), join(from, 'node_modules/own'));
    expect(await copy()).toBe(false);
  });

  it('is not put where the commit of the worktree has files or links of its own', async () => {
    using scratch = createScratch();
    const { from, to, copy } = prepareTwo(scratch);
    const outside = join(scratch.path, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'out'), 'a person’s file');
    mkdirSync(join(from, 'build'));
    writeFileSync(join(from, 'build/kept'), 'kept');
    scratch.git('-C', from, 'add', '-f', 'build/kept');
    writeFileSync(join(from, 'build/out'), 'built');
    // Another worker’s work is in this commit: a link in the folder’s place, then a file in place of what was built.
    symlinkSync(outside, join(to, 'build'));
    await expect(copy()).rejects.toMatchObject({ code: 'unsafe_file' });
    scratch.git('-C', to, 'add', '-f', 'build');
    expect(await copy()).toBe(false);
    expect(readFileSync(join(outside, 'out'), 'utf8')).toBe('a person’s file');
    rmSync(join(to, 'build'));
    mkdirSync(join(to, 'build/out'), { recursive: true });
    writeFileSync(join(to, 'build/out/theirs'), 'theirs');
    scratch.git('-C', to, 'add', '-f', 'build');
    expect(await copy()).toBe(false);
    expect(readFileSync(join(to, 'build/out/theirs'), 'utf8')).toBe('theirs');
  });

  it('is copied without what Pulse keeps there; links stay links, and nothing is waited for', async () => {
    using scratch = createScratch();
    const { from, to, copy } = prepareTwo(scratch);
    for (const place of [from, to]) mkdirSync(join(place, '.pulse'));
    writeFileSync(join(from, '.pulse/held-out'), 'for no agent');
    writeFileSync(join(to, '.pulse/brief'), 'to be read');
    mkdirSync(join(from, 'cache'));
    execFileSync('mkfifo', [join(from, 'cache/pipe')]);
    symlinkSync('/etc/passwd', join(from, 'cache/link'));
    expect(await copy()).toBe(true);
    expect(readdirSync(join(to, '.pulse'))).toEqual(['brief']);
    expect(readlinkSync(join(to, 'cache/link'))).toBe('/etc/passwd');
    writeFileSync(Buffer.concat([Buffer.from(`${from}/caf`), Buffer.from([0xe9])]), 'no UTF-8');
    expect(await copy()).toBe(false);
  });
});
