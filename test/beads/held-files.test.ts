/** Files that somebody outside of the swarm has reserved: the coordinator hears of it once, and the swarm waits. */
import { expect, it } from 'vitest';
import type { SessionState } from '../../src/engine/loop.ts';
import { decideBeads } from '../../src/loops/beads/worker/decide.ts';
import type { BeadsState } from '../../src/loops/beads/worker/state.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

const WRITE = `echo x > $PULSE_UNIT.txt; ${beadDone()}`;

async function reserve({ pulse, scratch }: SwarmScene, paths: string[], more: object = {}): Promise<void> {
  const project_key = scratch.repository;
  await pulse.mail.register({ project_key, name: 'Owl' });
  await pulse.reservations.reserve({ project_key, agent_name: 'Owl', paths, ...more });
}

async function conflictsOf({ pulse }: SwarmScene) {
  const { messages } = await pulse.mail.inbox({ agent_name: 'coordinator' });
  return messages.filter(({ subject }) => subject.startsWith('File conflict on '));
}

onBothStores((_, place) => {
  async function open(): Promise<SwarmScene> {
    const { url } = await place();
    return createSwarmScene({ environment: url ? { PULSE_DATABASE_URL: url } : {} });
  }

  it('waits for a file that an outsider holds, says so once, and goes on when it is released', async () => {
    await using scene = await open();
    for (const id of ['v1', 'v2', 'v3']) await scene.bead(id);
    await reserve(scene, ['v1.txt']);
    const id = await scene.start(WRITE, { workers: 2 });
    const running = scene.drive(id);
    await scene.told(id, 'bead.closed', 2);
    const { session, beads } = await scene.pulse.swarm.show(id);
    expect(session.status).toBe('running');
    expect(beads.map(({ status }) => status)).toEqual(['open', 'closed', 'closed']);
    expect(beads[0]!.reason).toMatch(/^v1\.txt is reserved by Owl until /);
    const [mail, ...others] = await conflictsOf(scene);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      ...{ subject: 'File conflict on v1', thread_id: 'app', topic: 'epic-app' },
      body_md: 'Need files: v1.txt. Currently held by: Owl. Requesting resolution.',
    });
    const project_key = scene.scratch.repository;
    await scene.pulse.reservations.release({ project_key, agent_name: 'Owl' });
    const after = await running;
    expect(after.session, after.session.blocked_reason ?? '').toMatchObject({
      ...{ status: 'complete', total_commits: 3 },
    });
    expect(await conflictsOf(scene)).toHaveLength(1);
    const { events } = await scene.pulse.export(id);
    expect(events.filter(({ type }) => type === 'reservation.refused').map(({ data }) => data)).toMatchObject(
      [{ bead: 'v1', conflicts: [{ path: 'v1.txt', holder: 'Owl' }] }],
    );
  }, 120_000);

  it('goes on by itself when the reservation expires, with mail that has come meanwhile', async () => {
    await using scene = await open();
    await scene.bead('v1');
    await reserve(scene, ['*.txt'], { ttl: 6_000 });
    const id = await scene.start(WRITE, { workers: 1 });
    const running = scene.drive(id);
    await scene.told(id, 'reservation.refused', 1);
    const project_key = scene.scratch.repository;
    const mail = { project_key, sender_name: 'Owl', to: ['worker-1'], topic: 'epic-app' };
    await scene.pulse.mail.send({ ...mail, subject: 'Soon', body_md: 'In a moment.' });
    const { session } = await running;
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
    expect(await conflictsOf(scene)).toHaveLength(1);
  }, 120_000);

  it('tells of each holder of a bead, and waits alone without mail', async () => {
    await using scene = await open();
    await scene.bead('v1', { files: ['a.txt', 'v1.txt'] });
    await reserve(scene, ['v1.txt']);
    const project_key = scene.scratch.repository;
    await scene.pulse.mail.register({ project_key, name: 'Fox' });
    await scene.pulse.reservations.reserve({ project_key, agent_name: 'Fox', paths: ['a.txt'] });
    const id = await scene.start(WRITE, { workers: 1 });
    const running = scene.drive(id);
    await scene.told(id, 'reservation.refused', 1);
    expect((await conflictsOf(scene)).map(({ body_md }) => body_md)).toEqual([
      'Need files: a.txt, v1.txt. Currently held by: Fox. Requesting resolution.',
      'Need files: a.txt, v1.txt. Currently held by: Owl. Requesting resolution.',
    ]);
    await scene.pulse.abort(id);
    await running;
    const alone = await scene.start(WRITE, { standalone: true });
    const waiting = scene.drive(alone);
    await scene.told(alone, 'reservation.refused', 1);
    expect(await conflictsOf(scene)).toHaveLength(2);
    for (const agent_name of ['Owl', 'Fox'])
      await scene.pulse.reservations.release({ project_key, agent_name });
    expect((await waiting).session).toMatchObject({ status: 'complete' });
  }, 120_000);
});

it('reads its inbox while it waits, and takes what has become free first', () => {
  const held = [{ id: 'v1', title: 'Write v1', files: ['v1.txt'], conflicts: [] }];
  const waiting = (more: Partial<BeadsState>) =>
    decideBeads({
      session: { status: 'running', budget_usd: null, budget_tokens: null, time_limit_ms: null },
      control: { request: null, counters: {} },
      ...{ recent: [], live: null, isNewTree: false },
      own: {
        ...{ worker: { acknowledged_at: 'then', left_for: null, context_used: null }, current: null },
        ...{
          children: [],
          orphans: [],
          stalled: [],
          open: [{ id: 'v1', status: 'open', claim: null }],
          held,
        },
        ...{ hasNext: false, isHeldUntold: false, hasMail: false, ...more },
      },
    } as unknown as SessionState<BeadsState>);
  const take = { do: 'host', name: 'take_bead' };
  expect(waiting({})).toEqual({ do: 'wait' });
  for (const what of ['hasMail', 'isHeldUntold', 'hasNext'] as const)
    expect(waiting({ [what]: true })).toMatchObject(take);
  expect(waiting({ held: [] })).toMatchObject({ do: 'end', stop: { status: 'complete' } });
});
