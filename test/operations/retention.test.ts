/** What goes by itself, and what stays. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { announceDaemon } from '../../src/store/daemons.ts';
import { appendEvents } from '../../src/store/events.ts';
import { updateSession } from '../../src/store/sessions.ts';
import { COMPLETE, CONTINUE, makeScene, type Scene } from '../engine/scene.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function ended(scene: Scene, script: string, { daysAgo }: { daysAgo: number }): Promise<string> {
  const { pulse, store } = scene;
  const { id } = await scene.startAndRun(script, { maxIterations: 1 });
  const ended_at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  await store.tx('test', async (db) => {
    await appendEvents(db, id, [{ type: 'agent.text', iteration: 1, data: { text: 'Looks around.' } }]);
    await updateSession(db, id, { ended_at });
  });
  mkdirSync(join(pulse.home.recordings, id), { recursive: true });
  mkdirSync(pulse.home.logs, { recursive: true });
  writeFileSync(join(pulse.home.recordings, id, '1.1.jsonl'), '{}\n');
  writeFileSync(join(pulse.home.logs, `${id}.log`), 'log\n');
  return id;
}

describe('retention', () => {
  it('removes logs, recordings and agents’ words after 14 days, and keeps the rest', async () => {
    const scene = await makeScene();
    const { pulse } = scene;
    const old = await ended(scene, COMPLETE, { daysAgo: 15 });
    const blocked = await ended(scene, CONTINUE, { daysAgo: 15 });
    const young = await ended(scene, COMPLETE, { daysAgo: 13 });
    const kept = async (id: string) => ({
      files: [join(pulse.home.recordings, id, '1.1.jsonl'), join(pulse.home.logs, `${id}.log`)].map(
        existsSync,
      ),
      said: (await scene.events({ id })).filter(({ type }) => type === 'agent.text').length,
    });
    expect((await kept(old)).said).toBeGreaterThan(0);
    const { retired } = await pulse.retire();
    expect(retired.toSorted()).toEqual([old, blocked].toSorted());
    const gone = { files: [false, false], said: 0 };
    expect([await kept(old), await kept(blocked)]).toEqual([gone, gone]);
    expect((await kept(young)).files).toEqual([true, true]);
    expect((await kept(young)).said).toBeGreaterThan(0);
    expect((await pulse.show(old)).iterations[0]?.output_full).toContain('Done.');
    expect((await pulse.retire()).retired).toEqual([]);
  });

  it('removes refs of work that was set aside after 30 days, wherever sessions have worked', async () => {
    const scene = await makeScene();
    await scene.startAndRun(COMPLETE);
    const keep = (name: string, daysAgo: number): void => {
      const at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
      const env = { ...process.env, GIT_COMMITTER_DATE: at };
      const options = ['-c', 'user.name=T', '-c', 'user.email=t@t'];
      const made = execFileSync('git', [...options, 'commit-tree', 'HEAD^{tree}', '-m', name], {
        cwd: scene.root,
        encoding: 'utf8',
        env,
      });
      execFileSync('git', ['update-ref', `refs/pulse/recovery/${name}`, made.trim()], { cwd: scene.root });
    };
    keep('old', 31);
    keep('young', 29);
    const aside = join(scene.root, '.git/pulse-kept/ses_1.kept-1.1.2');
    mkdirSync(aside, { recursive: true });
    utimesSync(aside, new Date(0), new Date(0));
    await scene.pulse.retire();
    expect(scene.refs('refs/pulse/recovery/').join()).toBe('refs/pulse/recovery/young');
    expect(existsSync(aside)).toBe(false);
  });

  it('removes a worktree that could not be removed when its session ended', async () => {
    const scene = await makeScene();
    const { pulse } = scene;
    const session = await scene.startAndRun(COMPLETE);
    mkdirSync(session.worktree_path, { recursive: true });
    writeFileSync(join(session.worktree_path, 'left.txt'), 'left');
    const stopped = await scene.startAndRun(CONTINUE, { maxIterations: 1 });
    expect((await pulse.retire()).closed).toEqual([session.id]);
    expect([existsSync(session.worktree_path), existsSync(stopped.worktree_path)]).toEqual([false, true]);
  });

  it('removes folders beside worktrees that belong to nothing, and keeps what a session may need', async () => {
    const scene = await makeScene();
    const { pulse, store } = scene;
    const over = await ended(scene, COMPLETE, { daysAgo: 1 });
    const stopped = await ended(scene, CONTINUE, { daysAgo: 1 });
    const young = await ended(scene, COMPLETE, { daysAgo: 0 });
    const { worktree_path } = await pulse.session(over);
    const make = (path: string, daysAgo = 0): string => {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'left.txt'), 'left');
      const at = new Date(Date.now() - daysAgo * DAY_MS);
      utimesSync(path, at, at);
      return path;
    };
    const beside = (name: string, daysAgo?: number) => make(join(dirname(worktree_path), name), daysAgo);
    const candidate = join(dirname(worktree_path), `${over}.candidate`);
    scene.sh(scene.root, 'worktree', 'add', '-q', '--detach', candidate);
    const gone = [
      candidate,
      beside(`${over}.best.prepared`),
      beside(`${over}.prepared`),
      beside(`${stopped}.kept-1.1.2`, 31),
      make(join(pulse.home.rooms, over)),
      make(join(pulse.home.rooms, `ses_verify-${stopped}-4242`), 2),
      make(join(pulse.home.fleet, 'project', `${over}.candidate`)),
    ];
    const stays = [
      beside(`${stopped}.candidate`),
      beside(`${young}.candidate`),
      beside(`${over}.kept-1.1.2`, 29),
      beside('somebody-else', 400),
      make(join(pulse.home.rooms, stopped)),
      make(join(pulse.home.rooms, `ses_verify-${stopped}-4243`)),
    ];
    expect((await pulse.retire()).removed.toSorted()).toEqual(gone.toSorted());
    expect([...gone, ...stays].filter(existsSync)).toEqual(stays);
    expect(scene.sh(scene.root, 'worktree', 'list')).not.toContain('candidate');
    await store.tx('test', (db) => updateSession(db, stopped, { ended_at: new Date(0).toISOString() }));
    expect((await pulse.retire()).removed).toEqual([]);
  });

  it('forgets daemons that are gone, and clones that nobody uses', async () => {
    const scene = await makeScene();
    const { pulse, store } = scene;
    const announce = (owner: string, ms: number) =>
      store.tx('test', (db) => announceDaemon(db, { owner, host: 'host', labels: [] }, ms));
    await announce('gone', -2 * DAY_MS);
    await announce('lives', 60_000);
    const clone = (name: string, daysAgo: number) => {
      const path = join(pulse.home.clones, name);
      mkdirSync(path, { recursive: true });
      const at = new Date(Date.now() - daysAgo * DAY_MS);
      utimesSync(path, at, at);
      return path;
    };
    const [idle, used, young] = [clone('idle', 31), clone('used', 31), clone('young', 3)];
    mkdirSync(join(pulse.home.fleet, 'used', 'session'), { recursive: true });
    await pulse.retire();
    const owners = await store.read((db) => db.selectFrom('daemons').select('owner').execute());
    expect(owners).toEqual([{ owner: 'lives' }]);
    expect([idle, used, young].map(existsSync)).toEqual([false, true, true]);
  });
});
