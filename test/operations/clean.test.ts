/** What old sessions hold is listed, and goes where a person says so. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProcess } from '../../src/process/run.ts';
import { appendEvents } from '../../src/store/events.ts';
import { updateSession } from '../../src/store/sessions.ts';
import { COMPLETE, makeScene, type Scene } from '../engine/scene.ts';

const ACTOR = { actor: 'test' };
const DAY_MS = 24 * 60 * 60 * 1000;

/** A session that wrote a file of this name and ended so long ago. */
async function ended(scene: Scene, name: string, daysAgo: number) {
  const session = await scene.startAndRun(`echo ${name} > ${name}; ${COMPLETE}`, { goal: name });
  const { id } = session;
  await scene.store.tx('test', async (db) => {
    await appendEvents(db, id, [{ type: 'agent.text', iteration: 1, data: { text: 'x'.repeat(1000) } }]);
    await updateSession(db, id, { ended_at: new Date(Date.now() - daysAgo * DAY_MS).toISOString() });
  });
  const { recordings, logs } = scene.pulse.home;
  mkdirSync(join(recordings, id), { recursive: true });
  mkdirSync(logs, { recursive: true });
  writeFileSync(join(recordings, id, '1.1.jsonl'), '12345');
  writeFileSync(join(logs, `${id}.log`), '123');
  return session;
}

describe('cleaning up', () => {
  it('lists what old sessions hold, and removes it; a branch that is not merged stays until that is said', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const merged = await ended(scene, 'merged', 3);
    await pulse.merge(merged.id, ACTOR);
    const squashed = await ended(scene, 'squashed', 3);
    await pulse.merge(squashed.id, { how: 'squash', ...ACTOR });
    const open = await ended(scene, 'open', 3);
    const young = await ended(scene, 'young', 0);
    const { held } = await pulse.showHeld();
    expect(
      held.map(({ session, branches }) => [session.id, branches.map(({ isMerged }) => isMerged)]),
    ).toEqual([
      [open.id, [false]],
      [squashed.id, [true]],
      [merged.id, [true]],
    ]);
    expect(held[0]).toMatchObject({ recordingsBytes: 5, logBytes: 3, worktree: null });
    expect(held[0]!.rowsBytes).toBeGreaterThan(1000);

    const before = sh(root, 'rev-parse', open.branch_name);
    const cleaned = await pulse.clean({ ...ACTOR });
    expect(cleaned.removed.toSorted()).toEqual([merged.id, squashed.id, open.id].toSorted());
    expect(cleaned.left).toEqual([{ sessionId: open.id, branch: open.branch_name, why: 'not merged' }]);
    expect(scene.refs('refs/heads/').toSorted()).toEqual(
      ['main', open.branch_name, young.branch_name].map((name) => `refs/heads/${name}`).toSorted(),
    );
    expect(sh(root, 'rev-parse', open.branch_name)).toBe(before);
    expect(existsSync(join(pulse.home.logs, `${merged.id}.log`))).toBe(false);
    expect(existsSync(join(pulse.home.logs, `${young.id}.log`))).toBe(true);
    expect((await pulse.showHeld()).held.map(({ session, rowsBytes }) => [session.id, rowsBytes])).toEqual([
      [open.id, 0],
    ]);

    await pulse.clean({ unmerged: true, ...ACTOR });
    expect(scene.refs('refs/heads/')).not.toContain(`refs/heads/${open.branch_name}`);
    const { kept } = await pulse.show(open.id);
    expect(sh(root, 'rev-parse', `${kept[0]!.ref}^{commit}`)).toBe(before);
  });

  it('removes a merged branch whole, also where several sessions have worked on it', async () => {
    const scene = await makeScene();
    const { pulse } = scene;
    const first = await ended(scene, 'first', 3);
    const more = {
      goal: 'more',
      command: `echo more > more; ${COMPLETE}`,
      createdBy: 'cli',
      ...ACTOR,
    } as const;
    const { session } = await pulse.followUp(first.id, more);
    await scene.run(session);
    await pulse.merge(session.id, ACTOR);
    await scene.store.tx('test', (db) =>
      updateSession(db, session.id, { ended_at: new Date(Date.now() - 2 * DAY_MS).toISOString() }),
    );
    await pulse.clean({ ...ACTOR });
    expect(scene.refs('refs/heads/')).toEqual(['refs/heads/main']);
  });

  it('leaves what was merged as it is: a merge says so again, and a follow-up how to have the branch back', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const session = await ended(scene, 'first', 3);
    await pulse.merge(session.id, ACTOR);
    const tip = sh(root, 'rev-parse', session.branch_name);
    await pulse.clean({ ...ACTOR });
    expect(scene.refs('refs/heads/')).toEqual(['refs/heads/main']);
    const again = await pulse.merge(session.id, ACTOR);
    expect([again.said, again.merged]).toEqual(['main has it already.', null]);
    const refused = await pulse.followUp(session.id, { goal: 'more', ...ACTOR }).catch((error) => error);
    expect(refused).toMatchObject({
      code: 'not_found',
      message: `The branch ${session.branch_name} of ${session.id} is merged into main, and was removed after that.`,
    });
    const [, command] = /^(git branch .*) brings it back\.$/.exec(refused.hint)!;
    sh(root, ...command!.split(' ').slice(1));
    expect(sh(root, 'rev-parse', session.branch_name)).toBe(tip);
  });

  it('counts what was merged as merged, also where its base was written anew', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const began = sh(root, 'rev-parse', 'main');
    for (const how of ['ff', 'merge', 'squash'] as const) {
      const session = await ended(scene, how, 3);
      await pulse.merge(session.id, { how, ...ACTOR });
      sh(root, 'reset', '-q', '--hard', began);
    }
    const { held } = await pulse.showHeld();
    expect(held.map(({ branches }) => branches.map(({ isMerged }) => isMerged))).toEqual([
      [true],
      [true],
      [true],
    ]);
    expect((await pulse.clean({ ...ACTOR })).left).toEqual([]);
    expect(scene.refs('refs/heads/')).toEqual(['refs/heads/main']);
  });

  it('leaves the branch of a first session alone whose follow-up was dropped', async () => {
    const scene = await makeScene();
    const { pulse } = scene;
    const first = await ended(scene, 'first', 0);
    const more = {
      goal: 'more',
      command: `echo more > more; ${COMPLETE}`,
      createdBy: 'cli',
      ...ACTOR,
    } as const;
    const { session } = await pulse.followUp(first.id, more);
    await scene.run(session);
    await pulse.discard(session.id, ACTOR);
    await scene.store.tx('test', (db) =>
      updateSession(db, session.id, { ended_at: new Date(Date.now() - 2 * DAY_MS).toISOString() }),
    );
    expect((await pulse.showHeld()).held.flatMap(({ branches }) => branches)).toEqual([]);
    await pulse.clean({ unmerged: true, ...ACTOR });
    expect(scene.refs('refs/heads/')).toContain(`refs/heads/${first.branch_name}`);
  });

  it('says what younger sessions hold where old ones hold nothing, and takes 0s for all', async () => {
    const scene = await makeScene();
    const clean = async (...words: string[]) => {
      const { code, stdout, stderr } = await runProcess({
        ...{ runId: null, file: process.execPath, cwd: scene.root, env: scene.environment },
        args: [join(import.meta.dirname, '../../bin/pulse.js'), 'clean', ...words],
      });
      return { code, said: stdout + stderr };
    };
    expect((await clean()).said).toContain(
      'Sessions that ended more than 1d ago hold nothing, and younger ones neither.',
    );
    const young = await ended(scene, 'young', 0);
    expect((await clean()).said).toMatch(
      /^Sessions that ended more than 1d ago hold nothing; 1 younger one holds \d+ (?:bytes|KB) \(pulse clean --older-than 0s\)\.$/m,
    );
    const all = await clean('--older-than', '0s');
    expect(all).toMatchObject({ code: 0, said: expect.stringContaining(`1  ${young.id} (complete`) });
  });

  it('touches only what is chosen, and no branch that is checked out or is a later session’s', async () => {
    const scene = await makeScene();
    const { pulse, root, sh } = scene;
    const one = await ended(scene, 'one', 3);
    const two = await ended(scene, 'two', 3);
    const followed = await ended(scene, 'followed', 3);
    await pulse.followUp(followed.id, { goal: 'more', createdBy: 'cli', ...ACTOR });
    sh(root, 'switch', '-q', two.branch_name);
    const all = { unmerged: true, ...ACTOR };
    expect((await pulse.clean({ ...all, sessions: [two.id] })).left).toMatchObject([
      { sessionId: two.id, why: `checked out in ${root}` },
    ]);
    expect(existsSync(join(pulse.home.logs, `${one.id}.log`))).toBe(true);
    await pulse.clean(all);
    expect(scene.refs('refs/heads/').toSorted()).toEqual(
      ['main', two.branch_name, followed.branch_name].map((name) => `refs/heads/${name}`).toSorted(),
    );
  });
});
