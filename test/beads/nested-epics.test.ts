/** Epics within epics: what belongs to the inner one belongs to the outer one, for all who ask. */
import { describe, expect, it } from 'vitest';
import { createBead } from '../../src/loops/beads/graph/change.ts';
import { listBeads, lockProject } from '../../src/loops/beads/graph/rows.ts';
import { ids, onBothStores } from '../coordination/both-stores.ts';
import { beadsOf, PROJECT } from './beads.ts';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

onBothStores((open) => {
  it('a list by epic has the beads of every epic below it, and no others', async () => {
    const store = await open();
    const { create, next } = beadsOf(store);
    await create({ id: 'outer', type: 'epic', fields: {} });
    await create({ id: 'inner', type: 'epic', epic: 'outer', fields: {} });
    await create({ id: 'deep', type: 'epic', epic: 'inner', fields: {} });
    await create({ id: 'one', epic: 'outer' });
    await create({ id: 'two', epic: 'deep' });
    await create({ id: 'other', type: 'epic', fields: {} });
    await create({ id: 'three', epic: 'other' });
    await store.tx('create', async (db) =>
      createBead(db, await lockProject(db, 'project-2'), {
        bead: { id: 'inner', title: 'The same id elsewhere', prefix: 'x', type: 'epic' },
        ids,
      }),
    );
    const idsOf = async (filter: Parameters<typeof listBeads>[2]) =>
      (await store.read((db) => listBeads(db, PROJECT, filter))).map(({ id }) => id);
    expect(await idsOf({ epic: 'outer' })).toEqual(['inner', 'deep', 'one', 'two']);
    expect(await idsOf({ epic: 'inner' })).toEqual(['deep', 'two']);
    expect(await idsOf({ epic: 'outer', status: 'closed' })).toEqual([]);
    expect((await next({ epic: 'inner' })).bead?.id).toBe('two');
  });
});

async function nested(scene: SwarmScene): Promise<void> {
  const { pulse, scratch } = scene;
  const project_key = scratch.repository;
  await pulse.bead.create({
    ...{ project_key, id: 'part', title: 'A part', type: 'epic', epic: 'app', feature: 'part' },
  });
}

const WRITE = 'echo "$PULSE_UNIT $PULSE_FEATURE $PULSE_TOPIC" > $PULSE_UNIT.txt';

describe('a swarm on the outer epic', () => {
  it('works on the beads of the inner one, under the feature of each', async () => {
    await using scene = await createSwarmScene();
    await nested(scene);
    await scene.bead('a', { epic: 'part' });
    await scene.bead('b', { epic: 'part', feature: 'own' });
    await scene.bead('c');
    const id = await scene.start(`${WRITE}; ${beadDone()}`, { workers: 1 });
    const { session, beads } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 3 });
    expect(beads.map((bead) => [bead.id, bead.status])).toEqual([
      ['a', 'closed'],
      ['b', 'closed'],
      ['c', 'closed'],
    ]);
    const show = (path: string) => scene.scratch.git('show', `${session.branch_name}:${path}`);
    expect(show('a.txt')).toBe('a part epic-app');
    expect(show('b.txt')).toBe('b own epic-app');
    expect(show('history/part/verification/a.md')).toMatch(/Feature: `part`/);
    expect(show('history/own/verification/b.md')).toMatch(/Feature: `own`/);
    expect(show('history/app/verification/c.md')).toMatch(/Feature: `app`/);
    for (const bead of ['a', 'b', 'c']) {
      const { bead: row } = await scene.pulse.bead.show(bead, { project_key: scene.scratch.repository });
      expect(row.verification_evidence).toBe(`history/${row.feature}/verification/${bead}.md`);
    }
  });

  it('reads the decisions that the feature of the bead has written down', async () => {
    await using scene = await createSwarmScene();
    await nested(scene);
    scene.decide('### D7: Not of this feature');
    await scene.bead('a', { epic: 'part', decision_refs: ['D7'] });
    const { session } = await scene.drive(await scene.start('true', { workers: 1 }));
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'unresolved_issues' });
    const { messages } = await scene.pulse.mail.inbox({ agent_name: 'coordinator', topic: 'epic-app' });
    const [bounced] = messages.filter(({ subject }) => subject === 'a needs planning');
    expect(bounced?.body_md).toContain('history/part/CONTEXT.md');
  });

  it('sends beads of the inner epic that lack fields back to planning, on the topic of the swarm', async () => {
    await using scene = await createSwarmScene();
    const project_key = scene.scratch.repository;
    await nested(scene);
    await scene.bead('a', { epic: 'part', files: [] });
    await scene.pulse.bead.update('a', { project_key, status: 'open' });
    const { session, beads } = await scene.drive(await scene.start('true', { workers: 1 }));
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'unresolved_issues' });
    expect(beads).toMatchObject([{ id: 'a', status: 'blocked' }]);
    const { messages } = await scene.pulse.mail.inbox({ agent_name: 'coordinator', topic: 'epic-app' });
    expect(messages.map(({ subject }) => subject)).toContain('a needs planning');
  });

  it('closes the inner epic with its last bead, so that what waits for that epic can begin', async () => {
    await using scene = await createSwarmScene();
    const project_key = scene.scratch.repository;
    await nested(scene);
    await scene.bead('a', { epic: 'part' });
    await scene.bead('b', { epic: 'part' });
    await scene.bead('c', { dependencies: ['part'] });
    const id = await scene.start(`${WRITE}; ${beadDone()}`, { workers: 1 });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 3 });
    const { bead } = await scene.pulse.bead.show('part', { project_key });
    expect(bead).toMatchObject({ status: 'closed', close_reason: 'Completed: all beads of it are closed' });
    expect((await scene.pulse.bead.show('app', { project_key })).bead.status).toBe('open');
  });

  it('finds an inner epic done whose beads a person has closed', async () => {
    await using scene = await createSwarmScene();
    const project_key = scene.scratch.repository;
    await nested(scene);
    await scene.bead('a', { epic: 'part' });
    await scene.pulse.bead.close('a', { project_key, reason: 'Not needed' });
    await scene.bead('c', { dependencies: ['part'] });
    const { session } = await scene.drive(await scene.start(`${WRITE}; ${beadDone()}`, { workers: 1 }));
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 1 });
  });
});
