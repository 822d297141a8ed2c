import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PulseEvent } from '../../src/domain/events.ts';
import { createRedactor } from '../../src/domain/redact.ts';
import { viewCards } from '../../src/operations/dashboard/cards.ts';
import { currentOwner, formatOwner } from '../../src/process/owner.ts';
import { runProcess } from '../../src/process/run.ts';
import { appendEvents } from '../../src/store/events.ts';
import { storeNow } from '../../src/store/store.ts';
import { COMPLETE, CONTINUE, makeScene, until } from '../engine/scene.ts';

describe('following a session', () => {
  it('tells every event once, in order, as it happens, and ends with the session', async () => {
    const scene = await makeScene();
    const go = join(scene.folder, 'go');
    const session = await scene.start(
      `[ $PULSE_ITERATION = 1 ] && { ${CONTINUE}; exit 0; }
       touch ${go}.up; while [ ! -e ${go} ]; do sleep 0.05; done; ${COMPLETE}`,
    );
    const told: PulseEvent[] = [];
    const following = (async () => {
      for await (const event of scene.pulse.follow(session.id)) told.push(event);
    })();
    const running = scene.run(session);
    await until(() => existsSync(`${go}.up`));
    await until(() => told.some(({ type, iteration }) => type === 'iteration.started' && iteration === 2));
    writeFileSync(go, '');
    await running;
    await following;
    expect(told).toEqual(await scene.events(session));
    expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => index + 1));
    expect(told.at(-1)!.type).toBe('session.ended');
  });

  it('begins after a number, and reads on where there are more than fit into one look', async () => {
    const scene = await makeScene();
    const session = await scene.startAndRun('echo "<signal>BLOCKED: x</signal>"');
    const many = Array.from({ length: 1200 }, () => ({ type: 'agent.text' as const }));
    await scene.store.tx('test', (db) => appendEvents(db, session.id, many));
    const seqs: number[] = [];
    for await (const { seq } of scene.pulse.follow(session.id, { after: 3 })) seqs.push(seq);
    const count = (await scene.events(session)).length;
    expect(seqs).toEqual(Array.from({ length: count - 3 }, (_, index) => index + 4));
  });

  it('ends when it is called off, or when whoever asked has had enough', async () => {
    const scene = await makeScene();
    const session = await scene.start(COMPLETE);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    const told: string[] = [];
    for await (const { type } of scene.pulse.follow(session.id, { signal: abort.signal })) told.push(type);
    expect(told).toEqual(['session.created']);
    let asked = 0;
    for await (const event of scene.pulse.follow(session.id, { onQuiet: async () => ++asked > 0 })) {
      expect(event.seq).toBe(1);
    }
    expect(asked).toBe(1);
    await scene.pulse.abort(session.id, { actor: 'test' });
  });
});

describe('reading a session', () => {
  it('never adopts it: an orphan is shown as one, and stays one', async () => {
    const scene = await makeScene();
    const session = await scene.start(COMPLETE);
    await scene.store.tx('test', async (db) => {
      await db.updateTable('pulse_sessions').set({ status: 'running' }).execute();
    });
    expect(await scene.pulse.runner(session.id)).toBe('none');
    expect((await scene.pulse.show(session.id.slice(0, 20))).session.status).toBe('running');
    expect((await scene.pulse.list({ status: 'running' })).sessions).toHaveLength(1);
    expect(await scene.events(session)).toHaveLength(1);
    const { next } = await scene.pulse.resume(session.id, { actor: 'test' });
    expect(next).toBe('run');
    await expect(scene.pulse.resume(session.id, { actor: 'test', answer: 'x' })).rejects.toMatchObject({
      code: 'invalid_transition',
    });
  });

  it('calls a session driven only while its lease is: a process may live and have given it up', async () => {
    const scene = await makeScene();
    const { id } = await scene.start(COMPLETE);
    const lease = (endedMsAgo: number) =>
      scene.store.tx('test', async (db) => {
        const lease_until = new Date(Date.now() - endedMsAgo).toISOString();
        await db
          .updateTable('session_controls')
          .set({ lease_owner: formatOwner(currentOwner()), lease_until })
          .execute();
      });
    await lease(-60_000);
    expect(await scene.pulse.runner(id)).toBe('alive');
    // Held up, and about to speak.
    await lease(20_000);
    expect(await scene.pulse.runner(id)).toBe('alive');
    await lease(40_000);
    expect(await scene.pulse.runner(id)).toBe('none');
  });

  it('says how long the agent works, and when it was last heard of, behind all that it told', async () => {
    const scene = await makeScene();
    const { id } = await scene.start(COMPLETE);
    const began = new Date(Date.now() - 90_000).toISOString();
    await scene.store.tx('test', async (db) => {
      await db.updateTable('pulse_sessions').set({ status: 'running' }).execute();
      await db
        .updateTable('session_controls')
        .set({ lease_owner: formatOwner(currentOwner()), lease_until: storeNow(60_000) })
        .execute();
      await appendEvents(db, id, [{ type: 'iteration.started', iteration: 1 }]);
      await db
        .updateTable('pulse_events')
        .set({ at: began })
        .where('type', '=', 'iteration.started')
        .execute();
      const told = Array.from({ length: 60 }, (_, at) => ({ text: `Line ${at}.` }));
      await appendEvents(
        db,
        id,
        told.map((data) => ({ type: 'agent.text' as const, iteration: 1, data })),
      );
    });
    const { doing } = await scene.pulse.show(id);
    expect(doing).toMatchObject({ text: 'agent working', since: began });
    expect(Date.parse(doing!.lastSign)).toBeGreaterThan(Date.parse(began) + 60_000);
    const [card] = (
      await viewCards(
        { engine: { store: scene.store, owners: () => 'alive' }, redactor: createRedactor([]) },
        {},
      )
    ).sessions;
    expect(card!.now).toMatchObject({ step: 'agent', activity: 'agent working: Line 59.', since: began });
    const { stdout } = await runProcess({
      ...{ runId: null, file: process.execPath, cwd: scene.root, env: scene.environment },
      args: [join(import.meta.dirname, '../../bin/pulse.js'), 'status', id],
    });
    expect(stdout).toMatch(/now: agent working for 1m 3\ds, last heard of \d+\.\ds ago/);
  });

  it('says that there is none', async () => {
    const scene = await makeScene();
    for (const ask of [scene.pulse.show, scene.pulse.export, scene.pulse.verify]) {
      await expect(ask('ses_00000000-0000')).rejects.toMatchObject({ code: 'not_found' });
    }
    await expect(scene.pulse.pause('nope', { actor: 'test' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(scene.pulse.abort('nope', { actor: 'test' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
