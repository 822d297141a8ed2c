/** A person changes a session between the runner's look at it and its next write. */

import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../src/engine/actions.ts';
import { abortSession } from '../../src/engine/runner/control.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { fakeLoops } from '../fakes/loops.ts';
import { makeScene, type Scene } from './scene.ts';

const SCRIPT = `
echo "$PULSE_ITERATION" >> work.txt
[ "$PULSE_ITERATION" = 2 ] && echo '<signal>COMPLETE</signal>' || echo '<signal>CONTINUE</signal>'`;

/** Aborts when this point is passed for the first time, as a command in another terminal would. */
async function abortedAt(point: CrashPoint, script = SCRIPT): Promise<Scene & { id: string }> {
  const aborting: { id: string; path: string } = { id: '', path: '' };
  let isDone = false;
  const scene = await makeScene({
    async trace(passed) {
      if (passed !== point || isDone) return;
      isDone = true;
      const store = await openSqlite({ path: aborting.path });
      await store.tx('abort', (db) => abortSession(db, aborting.id, { actor: 'test', loops: fakeLoops() }));
      await store.close();
    },
  });
  aborting.path = scene.pulse.home.database;
  const { id } = await scene.start(script);
  aborting.id = id;
  await scene.pulse.run(id, new AbortController().signal);
  expect(isDone, `never at ${point}`).toBe(true);
  return { ...scene, id };
}

describe('a session that is aborted behind its runner', () => {
  it.each<CrashPoint>(['start:before', 'dispatch:before', 'claim:before', 'report:before', 'settle:before'])(
    'stays aborted at %s: no late result, no live iteration, nothing after it in the events',
    async (point) => {
      const scene = await abortedAt(point);
      const { session, iterations } = await scene.pulse.show(scene.id);
      expect(session).toMatchObject({ status: 'aborted', stop_reason: 'aborted_by_user', total_commits: 0 });
      for (const iteration of iterations) {
        expect(iteration).toMatchObject({ status: 'failed', failure_class: 'cancelled', signal: null });
      }
      const types = (await scene.events({ id: scene.id })).map(({ type }) => type);
      expect(types.filter((type) => type.startsWith('session.')).at(-1)).toBe('session.aborted');
      expect(types).not.toContain('iteration.settled');
      expect(types).not.toContain('session.ended');
      expect(scene.refs('refs/pulse/attempts')).toEqual([]);
    },
  );

  it('is not taken up again for a retry', async () => {
    const scene = await abortedAt('retry:before', 'exit 3');
    const { session, iterations } = await scene.pulse.show(scene.id);
    expect(session.status).toBe('aborted');
    expect(iterations).toMatchObject([{ status: 'failed', attempt: 1 }]);
    const tasks = await scene.store.read((db) => db.selectFrom('inbox_tasks').select('status').execute());
    expect(tasks.map(({ status }) => status)).toEqual(['cancelled']);
  });
});
