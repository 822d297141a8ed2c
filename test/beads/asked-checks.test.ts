/** A bead that has to change checks: its worker waits for a person, the others continue. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

const BY = { createdBy: 'cli' as const, actor: 'someone' };

const DECLARED = { checksChanged: [{ path: 'check.sh', reason: 'the value is new now' }] };

const CHANGE = `echo new > value.txt; echo 'grep -q new value.txt' > check.sh; ${beadDone('done-$PULSE_UNIT-$PULSE_ITERATION.json', DECLARED)}`;
const WRITE = `echo "$PULSE_UNIT" > $PULSE_UNIT.txt; ${beadDone()}`;

/** The check is a script that the command names: it is protected. */
async function project(scene: SwarmScene, ids: readonly string[]): Promise<void> {
  const { repository, git } = scene.scratch;
  writeFileSync(join(repository, 'check.sh'), 'grep -q old value.txt\n');
  writeFileSync(join(repository, 'value.txt'), 'old\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'a check');
  for (const id of ids)
    await scene.bead(id, {
      files: ['value.txt', 'check.sh', `${id}.txt`],
      verify: [{ command: 'sh check.sh' }],
    });
}

describe('a bead that changes checks', () => {
  it('stops its worker alone, shows the person the checks, and lands when accepted', async () => {
    await using scene = await createSwarmScene();
    await project(scene, ['a']);
    for (const id of ['b', 'c']) await scene.bead(id);
    await scene.bead('after', { dependencies: ['a'] });
    const id = await scene.start(`if [ $PULSE_UNIT = a ]; then ${CHANGE}; else ${WRITE}; fi`, { workers: 2 });
    const asked = await scene.drive(id);
    expect(asked.session).toMatchObject({ status: 'blocked', stop_reason: 'checks_changed' });
    expect(asked.session.blocked_reason).toContain('check.sh: the value is new now');
    const { queue } = await scene.pulse.swarm.queue(id);
    expect(queue).toMatchObject([{ bead: 'a', needsPerson: true }]);
    expect(asked.beads.filter(({ status }) => status === 'closed').map((bead) => bead.id)).toEqual([
      'b',
      'c',
    ]);
    expect(scene.reply('done-a-1.json')).toMatchObject({
      ok: true,
      output: expect.stringContaining('a person'),
    });
    const shown = await scene.pulse.showChecks(id);
    expect(shown.judgement).toMatchObject({ verdict: 'ask', replay: { passed: false } });
    expect(shown.diff).toContain('-grep -q old value.txt');
    await scene.pulse.accept(id, BY);
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({
      ...{ status: 'complete', total_commits: 4, trust: 'verified_checks_changed' },
    });
    expect(await scene.subjects(id)).toContain('feat(a): write it');
    await expect(scene.pulse.accept(id, BY)).rejects.toMatchObject({ code: 'invalid_transition' });
  }, 120_000);

  it('is done again where they are rejected, with what the person said', async () => {
    await using scene = await createSwarmScene();
    await project(scene, ['a']);
    const again = `git checkout -q HEAD~1 -- check.sh value.txt; ${WRITE}`;
    const id = await scene.start(`if [ $PULSE_ITERATION = 1 ]; then ${CHANGE}; else ${again}; fi`, {
      workers: 1,
    });
    await scene.drive(id);
    await scene.pulse.reject(id, { ...BY, text: 'Keep the old value.' });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', trust: 'verified' });
    const brief = readFileSync(join(scene.scratch.path, 'brief-a-2'), 'utf8');
    expect(brief).toContain('Keep the old value.');
    expect(scene.scratch.git('show', `${session.branch_name}:check.sh`)).toBe('grep -q old value.txt');
  }, 120_000);

  it('asks one after the other where two wait', async () => {
    await using scene = await createSwarmScene();
    const { repository, git } = scene.scratch;
    for (const id of ['a', 'b']) {
      writeFileSync(join(repository, `${id}.sh`), `grep -q old ${id}.txt\n`);
      writeFileSync(join(repository, `${id}.txt`), 'old\n');
      await scene.bead(id, { files: [`${id}.txt`, `${id}.sh`], verify: [{ command: `sh ${id}.sh` }] });
    }
    git('add', '-A');
    git('commit', '-q', '-m', 'two checks');
    const declared = `'{"summary":"write it","checksChanged":[{"path":"'$PULSE_UNIT'.sh","reason":"new"}]}'`;
    const script = `echo new > $PULSE_UNIT.txt; echo "grep -q new $PULSE_UNIT.txt" > $PULSE_UNIT.sh; pulse tool bead_done ${declared}`;
    const id = await scene.start(script, { workers: 2 });
    await scene.drive(id);
    await scene.pulse.accept(id, BY);
    const second = await scene.drive(id);
    expect(second.session).toMatchObject({ status: 'blocked', stop_reason: 'checks_changed' });
    expect(second.beads.filter(({ status }) => status === 'closed')).toHaveLength(1);
    await scene.pulse.accept(id, BY);
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 2 });
  }, 120_000);
});
