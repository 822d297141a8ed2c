/** Real SIGKILL at every point of a review: nothing is lost or merged twice, and no checkout is half merged. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CrashPoint, Trace } from '../../src/engine/actions.ts';
import { openProcessTable } from '../../src/process/process-table.ts';
import { createPulse } from '../../src/pulse.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { drawFor, isHere, processesOf, runner, type StoreOfSuite } from './kill-suite.ts';

const FIXTURE = (await bundlePackage())('test/crash/fixtures/review.ts');

const done = (name: string): string =>
  `pulse tool pulse_done '{"summary":"feat: ${name}","filesChanged":["${name}"]}' > /dev/null`;
const AGENT = `cat > /dev/null; echo x > "$PULSE_UNIT"
case "$PULSE_UNIT" in one) ${done('one')} ;; two) ${done('two')} ;; review-1) ${done('review-1')} ;; esac`;

interface Way {
  name: string;
  mode: 'ff' | 'merge' | 'squash';
  isCheckedOut: boolean;
  /** The git processes that come before the base is moved, the mover last. */
  git: string[];
}

const ASKING = ['for-each-ref', 'merge-base'];
const WAYS: Way[] = (['ff', 'merge', 'squash'] as const).flatMap((mode) =>
  [false, true].map((isCheckedOut) => ({
    name: `${mode}, ${isCheckedOut ? 'base in a clean checkout' : 'base checked out nowhere'}`,
    mode,
    isCheckedOut,
    git: [
      ...ASKING,
      ...(isCheckedOut ? ['status'] : []),
      ...(mode === 'ff' ? [] : ['merge-tree']),
      ...(isCheckedOut ? ['diff-tree', 'merge'] : ['update-ref']),
    ],
  })),
);

/** A second store leaves out what has nothing to do with a store: deaths before each git process. */
export function killReview(place: StoreOfSuite): void {
  const { store, prepare, isSecond } = place;
  describe(`a review on ${store} that is killed`, () => {
    const ways = drawFor(place, WAYS, { of: 'a review', kind: ({ isCheckedOut }) => String(isCheckedOut) });
    it.each(ways)('at every point of $name merges once', { timeout: 120_000 }, async (way) => {
      using scratch = createScratch();
      await prepare(scratch);
      const { id, branch } = await waiting(scratch);
      // Somebody has worked on the base meanwhile.
      if (way.mode !== 'ff') commitOnBase(scratch, 'meanwhile.txt');
      if (!way.isCheckedOut) scratch.git('switch', '-q', '--detach');
      const before = await worldOf(scratch, id);

      const asked = isSecond ? [] : way.git.map((name) => `git ${name}`);
      for (const where of ['merge:before' satisfies CrashPoint, ...asked]) {
        await killed(scratch, { id, word: way.mode, where });
        expect(await worldOf(scratch, id), where).toEqual(before);
      }
      const late: CrashPoint[] = ['merge:after', 'review:before'];
      for (const where of late) {
        await killed(scratch, { id, word: way.mode, where });
        expectMerged(scratch, { way, branch });
        expect((await worldOf(scratch, id)).session, where).toEqual(before.session);
      }
      await killed(scratch, { id, word: way.mode, where: 'review:after' });
      expect((await worldOf(scratch, id)).session).toMatchObject({ status: 'running' });
      // Said again, it is refused with what to do; the next runner ends the session.
      const again = await review(scratch, { id, word: way.mode });
      expect(again).toMatchObject({ end: 1, said: expect.stringContaining(`pulse resume ${id}`) });
      expect(await runner(scratch, id)).toBe(0);
      expectMerged(scratch, { way, branch });
      await using pulse = await createPulse({ environment: scratch.environment });
      const { session, workflow } = await pulse.workflow.rows(id);
      expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed' });
      expect(workflow).toMatchObject({ merged_sha: scratch.git('rev-parse', 'main'), reviewed_by: 'test' });
      expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
      expect(processesOf(scratch)).toEqual([]);
    });

    it.runIf(isHere(place))(
      'at every point of a rejection makes one pulse of it',
      { timeout: 60_000 },
      async () => {
        using scratch = createScratch();
        await prepare(scratch);
        const { id, branch } = await waiting(scratch);
        const before = await worldOf(scratch, id);
        await killed(scratch, { id, word: 'reject', where: 'review:before' });
        expect(await worldOf(scratch, id)).toEqual(before);
        await killed(scratch, { id, word: 'reject', where: 'review:after' });
        const again = await review(scratch, { id, word: 'reject' });
        expect(again).toMatchObject({ end: 1, said: expect.stringContaining('does not wait for review') });
        expect(await runner(scratch, id)).toBe(0);
        const after = await worldOf(scratch, id);
        expect(after.session).toEqual(before.session);
        expect(after.main).toBe(before.main);
        expect(subjects(scratch, `main..${branch}`)).toEqual(['feat: one', 'feat: two', 'feat: review-1']);
      },
    );

    it.runIf(isHere(place))(
      'in the middle of a checkout: git goes on, and the checkout is whole',
      {
        timeout: 60_000,
      },
      async () => {
        using scratch = createScratch();
        await prepare(scratch);
        const { id, branch } = await waiting(scratch);
        const filter = scratch.file('filter.sh', `${holdUp(scratch)}; cat\n`);
        scratch.git('config', 'filter.slow.smudge', `sh ${filter}`);
        writeFileSync(join(scratch.repository, '.git/info/attributes'), '* filter=slow\n');
        await killedWhenHeld(scratch, { id, word: 'ff' });
        scratch.file('go', '');
        await expect
          .poll(() => scratch.git('rev-parse', 'main'), { timeout: 20_000 })
          .toBe(scratch.git('rev-parse', branch));
        await expect
          .poll(() => existsSync(join(scratch.repository, '.git/index.lock')), { timeout: 20_000 })
          .toBe(false);
        expect(scratch.git('status', '--porcelain')).toBe('');
        expect(scratch.read('two')).toBe('x\n');
        expect(await review(scratch, { id, word: 'ff' })).toMatchObject({ end: 0 });
        expect(await runner(scratch, id)).toBe(0);
        expect(subjects(scratch, 'main')).toEqual(['first', 'feat: one', 'feat: two']);
      },
    );

    it.each(drawFor(place, ['ff', 'merge', 'squash'] as const, { of: 'a checkout', kind: () => '' }))(
      'in the middle of a checkout, and git with it: %s is whole when it is said again',
      { timeout: 60_000 },
      async (mode) => {
        using scratch = createScratch();
        await prepare(scratch);
        const { id, branch } = await waiting(scratch);
        if (mode !== 'ff') commitOnBase(scratch, 'meanwhile.txt');
        const before = scratch.git('rev-parse', 'main');
        const filter = scratch.file('filter.sh', `if [ "$1" = two ]; then ${holdUp(scratch)}; fi; cat\n`);
        scratch.git('config', 'filter.slow.smudge', `sh ${filter} %f`);
        writeFileSync(join(scratch.repository, '.git/info/attributes'), '* filter=slow\n');
        await killedWhenHeld(scratch, { id, word: mode });
        // As when the machine goes down.
        for (const pid of mergesIn(scratch)) process.kill(pid, 'SIGKILL');
        await expect.poll(() => mergesIn(scratch), { timeout: 20_000 }).toEqual([]);
        scratch.file('go', '');
        expect(scratch.git('rev-parse', 'main')).toBe(before);
        expect(scratch.git('status', '--porcelain')).toContain('?? one');
        expect(await review(scratch, { id, word: mode })).toEqual({ end: 0, said: '' });
        expect(await runner(scratch, id)).toBe(0);
        expectMerged(scratch, { way: { name: mode, mode, isCheckedOut: true, git: [] }, branch });
      },
    );

    it.runIf(isHere(place))(
      'at every point of a pull request opens one, and leaves the base alone',
      {
        timeout: 60_000,
      },
      async () => {
        using scratch = createScratch();
        await prepare(scratch);
        const { id, branch } = await waiting(scratch);
        const opened = join(scratch.path, 'opened');
        installHub(scratch, opened);
        scratch.git('init', '-q', '--bare', join(scratch.path, 'remote.git'));
        scratch.git('remote', 'add', 'origin', join(scratch.path, 'remote.git'));
        const before = await worldOf(scratch, id);
        // To ask for the remote's address is the last that Pulse does before the push.
        for (const where of ['merge:before' satisfies CrashPoint, 'git remote']) {
          await killed(scratch, { id, word: 'pr', where });
          expect(await worldOf(scratch, id), where).toEqual(before);
          expect(scratch.git('ls-remote', 'origin'), where).toBe('');
        }
        await killedWhenHeld(scratch, { id, word: 'pr' });
        scratch.file('go', '');
        for (const where of ['merge:after', 'review:before'] satisfies CrashPoint[]) {
          await killed(scratch, { id, word: 'pr', where });
          expect((await worldOf(scratch, id)).session, where).toEqual(before.session);
        }
        await killed(scratch, { id, word: 'pr', where: 'review:after' });
        expect(await runner(scratch, id)).toBe(0);
        expect(readFileSync(opened, 'utf8')).toBe('opened\n');
        const pushed = scratch.git('ls-remote', 'origin').split('\t');
        expect(pushed).toEqual([scratch.git('rev-parse', branch), `refs/heads/${branch}`]);
        const after = await worldOf(scratch, id);
        expect(after.session).toMatchObject({ status: 'complete', merged: scratch.git('rev-parse', branch) });
        expect([after.main, after.head, after.checkout]).toEqual([before.main, before.head, before.checkout]);
      },
    );
  });
}

/** Shell: says where it is, and waits until it is told. */
function holdUp({ path }: Scratch): string {
  return `touch '${path}/at'; until [ -f '${path}/go' ] || [ ! -d '${path}' ]; do sleep 0.02; done`;
}

async function killedWhenHeld(scratch: Scratch, call: { id: string; word: string }): Promise<void> {
  const child = start(scratch, call);
  const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  const isHeld = () => existsSync(join(scratch.path, 'at'));
  await expect.poll(isHeld, { timeout: 20_000, interval: 20 }).toBe(true);
  child.kill('SIGKILL');
  expect(await ended).toBe('SIGKILL');
}

/** The gits that bring the checkout forward. */
function mergesIn({ repository }: Scratch): number[] {
  const table = openProcessTable();
  return table.pids().filter((pid) => {
    const isMerge = / merge .*--ff-only/.test(table.command(pid));
    return isMerge && table.cwd(pid) === repository && !table.stat(pid)?.isZombie;
  });
}

/** A `gh` that opens one pull request, after a while, and says so when it is asked again. */
function installHub(scratch: Scratch, opened: string): void {
  const bin = join(scratch.path, 'bin');
  mkdirSync(bin);
  const there = 'a pull request for this branch already exists:\\nhttps://example.org/pull/7\\n';
  const text = `#!/bin/sh
if [ -f '${opened}' ]; then printf '${there}' >&2; exit 1; fi
${holdUp(scratch)}
echo opened >> '${opened}'
echo https://example.org/pull/7
`;
  writeFileSync(join(bin, 'gh'), text, { mode: 0o755 });
  scratch.environment.PATH = `${bin}:${scratch.environment.PATH}`;
}

function start(scratch: Scratch, { id, word, where }: { id: string; word: string; where?: string }) {
  const args = [FIXTURE, id, word, ...(where ? [where] : [])];
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: scratch.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** How it ended, and what it said of that. */
async function review(scratch: Scratch, call: { id: string; word: string; where?: string }) {
  const child = start(scratch, call);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk));
  const end = await new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
  return { end, said };
}

async function killed(scratch: Scratch, call: { id: string; word: string; where: string }): Promise<void> {
  const { end, said } = await review(scratch, call);
  expect(end, `${call.where}: ${said}`).toBe('SIGKILL');
}

/** The points of a workflow that is worked through for real, reviewed and discarded, for whoever counts them. */
export async function passedInReview(): Promise<{ points: CrashPoint[] }> {
  using scratch = createScratch();
  const points: CrashPoint[] = [];
  const trace = (point: CrashPoint): void => void points.push(point);
  const { id } = await waiting(scratch, trace);
  await using pulse = await createPulse({ environment: scratch.environment, trace });
  await pulse.workflow.review(id, { approve: true, merge: 'ff', actor: 'test' });
  await pulse.run(id, new AbortController().signal);
  await pulse.discard(id, { actor: 'test' });
  return { points };
}

/** All pulses are done, and it waits for a person. */
async function waiting(scratch: Scratch, trace?: Trace): Promise<{ id: string; branch: string }> {
  await using pulse = await createPulse({ environment: scratch.environment, trace });
  const { session } = await pulse.workflow.start({
    plan: {
      title: 'Count',
      pulses: ['one', 'two'].map((id) => ({ id, title: id, description: `Do ${id}.` })),
    },
    path: scratch.repository,
    command: `sh '${scratch.file('agent.sh', AGENT)}'`,
    createdBy: 'cli',
    actor: 'test',
    isApproved: true,
  });
  await pulse.run(session.id, new AbortController().signal);
  return { id: session.id, branch: session.branch_name };
}

function commitOnBase(scratch: Scratch, name: string): void {
  writeFileSync(join(scratch.repository, name), 'mine\n');
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', `chore: ${name}`);
}

/** What a review may change, as a person sees it. */
async function worldOf(scratch: Scratch, id: string) {
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session, workflow } = await pulse.workflow.rows(id);
  const { status, stop_reason } = session;
  return {
    session: { status, stop_reason, merged: workflow.merged_sha },
    main: scratch.git('rev-parse', 'main'),
    head: scratch.git('rev-parse', 'HEAD'),
    refs: scratch.git('for-each-ref'),
    checkout: scratch.git('status', '--porcelain'),
  };
}

function subjects(scratch: Scratch, range: string): string[] {
  return scratch.git('log', '--reverse', '--topo-order', '--format=%s', range).split('\n');
}

function expectMerged(scratch: Scratch, { way, branch }: { way: Way; branch: string }): void {
  expect(scratch.git('show', 'main:two')).toBe('x');
  expect(scratch.git('status', '--porcelain')).toBe('');
  const merges = scratch.git(
    'rev-list',
    '--first-parent',
    `${scratch.git('merge-base', 'main', branch)}..main`,
  );
  const told = scratch.git('log', '--first-parent', '--format=%s', 'main').split('\n');
  const expected = {
    ff: ['feat: two', 'feat: one', 'first'],
    merge: [`Merge ${branch}: Count`, 'chore: meanwhile.txt', 'first'],
    squash: ['Count', 'chore: meanwhile.txt', 'first'],
  };
  expect(told).toEqual(expected[way.mode]);
  if (way.mode === 'squash') expect(merges.split('\n')).toHaveLength(2);
  if (!way.isCheckedOut) expect(existsSync(join(scratch.repository, 'two'))).toBe(false);
  else expect(scratch.read('two')).toBe('x\n');
}
