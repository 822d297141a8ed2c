/** What verified a bead that is closed holds at every later merge: a bead that breaks it does not land. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

/** All of `?.txt` together has one line. */
const ONE_LINE = 'test "$(cat ?.txt | wc -l)" -le 1';
const show = (scene: SwarmScene, branch: string, path: string) =>
  scene.scratch.git('show', `${branch}:${path}`);

/** The check that the first bead has left holds on the branch. */
async function expectGreen(scene: SwarmScene, branch: string): Promise<void> {
  const { git, path } = scene.scratch;
  const place = join(path, 'green');
  git('worktree', 'add', '-q', '--detach', place, branch);
  const { execFileSync } = await import('node:child_process');
  execFileSync('sh', ['-c', ONE_LINE], { cwd: place });
  git('worktree', 'remove', '--force', place);
}

/** Its first run breaks the check of the bead before it. */
const BREAKS = `if [ $PULSE_UNIT = b ] && [ ! -f "$OUT/b.again" ]; then touch "$OUT/b.again"; echo line > b.txt; else printf x > $PULSE_UNIT.txt; fi`;
const FIRST = `[ $PULSE_UNIT = a ] && { echo line > a.txt; ${beadDone()}; exit 0; }`;

describe('a bead that lands directly', () => {
  it('is refused while its agent waits where it breaks the check of an earlier bead, which is named', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a', { verify: [{ command: ONE_LINE }] });
    await scene.bead('b', { dependencies: ['a'] });
    const id = await scene.start(
      `${FIRST}; ${BREAKS}; ${beadDone('first-$PULSE_UNIT.json')} || { ${BREAKS}; ${beadDone()}; }`,
      { standalone: true },
    );
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({
      ...{ status: 'complete', total_commits: 2, trust: 'verified' },
    });
    const [reason = ''] = scene.reply('first-b.json').reasons ?? [];
    expect(reason).toContain('a (Write a)');
    expect(reason).toContain(ONE_LINE);
    await expectGreen(scene, session.branch_name);
    expect(await verifiedBy(scene, id)).toEqual(['test -s b.txt', ONE_LINE]);
  });

  it('has the checks of earlier beads run once each, whatever number of beads has them', async () => {
    await using scene = await createSwarmScene();
    const count = { command: 'echo run' };
    for (const [index, id] of ['a', 'b', 'c'].entries())
      await scene.bead(id, {
        verify: [{ command: `test -s ${id}.txt` }, count, { ...count, expect: 'exit 0' }],
        dependencies: index === 0 ? [] : [['a', 'b', 'c'][index - 1]!],
      });
    const id = await scene.start(`echo x > $PULSE_UNIT.txt; ${beadDone()}`, { standalone: true });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    expect(await verifiedBy(scene, id)).toEqual([
      'test -s c.txt',
      count.command,
      'test -s a.txt',
      'test -s b.txt',
    ]);
  });

  it('may end an earlier check where the plan says that it changes checks, and that is told', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a', { verify: [{ command: ONE_LINE }] });
    await scene.bead('b', { dependencies: ['a'], changesChecks: true });
    await scene.bead('c', { dependencies: ['b'] });
    const id = await scene.start(`echo line > $PULSE_UNIT.txt; ${beadDone()}`, { standalone: true });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({
      ...{ status: 'complete', total_commits: 3, trust: 'verified_checks_changed' },
    });
    const { events } = await scene.pulse.export(id);
    const closed = events.filter(({ type }) => type === 'bead.closed').map(({ data }) => data.outdated);
    expect(closed).toEqual([undefined, [{ bead: 'a', command: ONE_LINE }], undefined]);
    // What is over is not asked again.
    expect(await verifiedBy(scene, id)).toEqual(['test -s c.txt', 'test -s b.txt']);
  });

  it('is not held up by an earlier check that was red before it began', async () => {
    await using scene = await createSwarmScene();
    const switched = join(scene.scratch.path, 'broken');
    await scene.bead('a', { verify: [{ command: `test ! -f ${switched}` }] });
    await scene.bead('b', { dependencies: ['a'] });
    const id = await scene.start(
      `[ $PULSE_UNIT = b ] && touch '${switched}'; echo line > $PULSE_UNIT.txt; ${beadDone()}`,
      { standalone: true },
    );
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 2 });
  });

  it('may not change what the check of an earlier bead means', async () => {
    await using scene = await createSwarmScene();
    const { repository, git } = scene.scratch;
    writeFileSync(join(repository, 'check.sh'), 'grep -qx line a.txt\n');
    git('add', '-A');
    git('commit', '-q', '-m', 'a check');
    await scene.bead('a', { verify: [{ command: 'sh check.sh' }] });
    await scene.bead('b', { dependencies: ['a'], files: ['b.txt', 'a.txt', 'check.sh'] });
    const cheats = `echo true > check.sh; echo no > a.txt; echo line > b.txt; ${beadDone('first.json')} || { git checkout -q check.sh a.txt; ${beadDone()}; }`;
    const id = await scene.start(`${FIRST}; ${cheats}`, { standalone: true });
    const { session } = await scene.drive(id);
    expect(scene.reply('first.json').ok).toBe(false);
    expect(scene.reply('first.json').reasons?.join('\n')).toContain('check.sh');
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', trust: 'verified' });
    expect(show(scene, session.branch_name, 'a.txt')).toBe('line');
  });
});

describe('a bead that is merged', () => {
  it('goes back to its worker where it breaks the check of one that has landed', async () => {
    await using scene = await createSwarmScene();
    await scene.bead('a', { verify: [{ command: ONE_LINE }] });
    await scene.bead('b');
    // Both begin on the same head; b is done once a has landed.
    const meet = `touch "$OUT/$PULSE_UNIT.at"; for i in $(seq 600); do [ -f "$OUT/a.at" ] && [ -f "$OUT/b.at" ] && break; sleep 0.05; done`;
    const wait = `[ $PULSE_UNIT = b ] && for i in $(seq 600); do git log --branches --format=%s | grep -q '(a)' && break; sleep 0.05; done`;
    const id = await scene.start(
      `${meet}; ${wait}; ${FIRST}; ${BREAKS}; ${beadDone('done-b-$PULSE_ITERATION.json')}`,
      {
        workers: 2,
      },
    );
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({
      ...{ status: 'complete', total_commits: 2, trust: 'verified' },
    });
    await expectGreen(scene, session.branch_name);
    const { events } = await scene.pulse.export(id);
    const returned = events.filter(({ type }) => type === 'bead.returned');
    expect(returned.map(({ data }) => data.bead)).toEqual(['b']);
    expect(String(returned[0]!.data.reason)).toContain('a (Write a)');
    const again = readFileSync(join(scene.scratch.path, 'brief-b-2'), 'utf8');
    expect(again).toContain('a (Write a)');
  });

  it('names the other one where the two are merged together', async () => {
    await using scene = await createSwarmScene();
    const runs = join(scene.scratch.path, 'd.runs');
    // On the base, on the bead, in the merge queue: those that are done while that goes on are merged together.
    const slow = `echo run >> '${runs}'; [ "$(wc -l < '${runs}')" != 3 ] || sleep 3; test -s d.txt`;
    await scene.bead('a', { verify: [{ command: ONE_LINE }] });
    await scene.bead('b');
    await scene.bead('c');
    await scene.bead('d', { verify: [{ command: slow }] });
    const until = (what: string) => `for i in $(seq 600); do ${what} && break; sleep 0.05; done`;
    const meet = until('[ "$(ls "$OUT"/?.at | wc -l)" = 4 ]');
    const order = [
      `c) printf x > c.txt; ${beadDone()}; exit 0 ;;`,
      `d) ${until("git log --branches --format=%s | grep -q '(c)'")} ;;`,
      `*) ${until(`[ "$(cat '${runs}' 2>/dev/null | wc -l)" -ge 3 ]`)} ;;`,
    ].join(' ');
    const id = await scene.start(
      `touch "$OUT/$PULSE_UNIT.at"; ${meet}; case $PULSE_UNIT in ${order} esac; ${FIRST}; ${BREAKS}; ${beadDone()}`,
      { workers: 4 },
    );
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 4 });
    await expectGreen(scene, session.branch_name);
    const { events } = await scene.pulse.export(id);
    const merged = events.filter(({ type }) => type === 'bead.merging').map(({ data }) => data.beads);
    expect(merged).toContainEqual(['a', 'b']);
    const returned = events.filter(({ type }) => type === 'bead.returned').map(({ data }) => data);
    expect(returned).toMatchObject([
      { bead: 'b', reason: expect.stringContaining('The check of a (Write a)') },
    ]);
  });
});

/** The commands that the bead was verified by at last. */
async function verifiedBy(scene: SwarmScene, id: string): Promise<string[]> {
  const { workers } = await scene.pulse.swarm.show(id);
  const { verifications } = await scene.pulse.export(workers[0]!.sessionId);
  const last = verifications.at(-1)!.iteration;
  return verifications.filter(({ iteration }) => iteration === last).map(({ command }) => command);
}
