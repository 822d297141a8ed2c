/** A bead that names a decision which nobody wrote down goes back to planning, before an agent sees it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';
import { beadDone, createSwarmScene } from './swarm-scene.ts';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

it.each(['SQLite', 'PostgreSQL'])(
  'is bounced, and worked on once the decision is there (%s)',
  async (store) => {
    const environment = store === 'SQLite' ? {} : { PULSE_DATABASE_URL: await server.createDatabase() };
    await using scene = await createSwarmScene({ environment });
    const { scratch, pulse } = scene;
    scene.decide('- D1: Files end in .txt.');
    await scene.bead('a', { decision_refs: ['D1', 'D7'], priority: 0 });
    await scene.bead('b', { decision_refs: ['D1'] });
    await scene.bead('c', { body: 'As D8 says.' });
    const decisions = [
      { id: 'D1', how: 'so' },
      { id: 'D7', how: 'so' },
    ];
    const script = `echo x > $PULSE_UNIT.txt; ${beadDone('done.json', { decisions })}`;
    const id = await scene.start(script, { workers: 1 });
    const { session, beads } = await scene.drive(id);
    expect(session).toMatchObject({ status: 'blocked', stop_reason: 'unresolved_issues' });
    expect(beads.map(({ id: bead, status }) => [bead, status])).toEqual([
      ['a', 'blocked'],
      ['b', 'closed'],
      ['c', 'blocked'],
    ]);
    expect(beads[0]!.reason).toBe('It names D7, which history/app/CONTEXT.md does not have.');
    expect(existsSync(join(scratch.path, 'brief-a-1'))).toBe(false);
    const project_key = scratch.repository;
    expect((await pulse.bead.show('a', { project_key })).bead).toMatchObject({
      labels: ['needs-planning'],
      claim: null,
    });
    const { messages } = await pulse.mail.inbox({ agent_name: 'coordinator' });
    const mail = messages.filter(({ subject }) => subject.endsWith('needs planning'));
    expect(mail.map(({ topic, body_md: body }) => [topic, /D\d/.exec(body)?.[0]])).toEqual([
      ['epic-app', 'D7'],
      ['epic-app', 'D8'],
    ]);
    expect((await pulse.reservations.list({})).reservations).toEqual([]);

    scene.decide('- D1: Files end in .txt.\n- D7: They are not empty.');
    const { bead } = await pulse.bead.update('a', { project_key, status: 'open' });
    expect(bead).toMatchObject({ status: 'open', labels: [] });
    await pulse.bead.update('c', { project_key, body: 'As everybody says.', status: 'open' });
    const after = await scene.drive(await scene.start(script, { workers: 1 }));
    expect(after.session, after.session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  },
  60_000,
);
