/** The loop that only tests have, on real git, real processes and a real store. */
import { expect, it } from 'vitest';
import { LOOPS } from '../../src/loops/all.ts';
import { createPulse } from '../../src/pulse.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { countdown } from '../fakes/countdown/index.ts';
import { findCountdown, insertCountdown } from '../fakes/countdown/rows.ts';
import { createScratch } from '../fakes/scratch.ts';

const COMMAND = `cat > /dev/null
n=\${PULSE_UNIT#count-}
pulse tool count_down "{\\"number\\": $((n + 1))}" && exit 1
echo "$n" > count.txt
pulse tool count_down "{\\"number\\": $n}" > /dev/null`;

it('runs a session of a loop that Pulse does not have, with its tool, its step, its child and its rows', async () => {
  using scratch = createScratch();
  const loops = [...LOOPS, countdown];
  await using pulse = await createPulse({ environment: scratch.environment, loops });
  const { session } = await pulse.start(
    {
      kind: 'countdown',
      goal: 'Count down',
      path: scratch.repository,
      command: COMMAND,
      createdBy: 'cli',
    },
    (db, sessionId) => insertCountdown(db, { sessionId, from: 3, hasHelper: true }),
  );
  expect(await pulse.run(session.id, new AbortController().signal)).toBe('left');
  const { session: after } = await pulse.get(session.id);
  expect(after).toMatchObject({
    kind: 'countdown',
    status: 'complete',
    stop_reason: 'completed',
    total_commits: 3,
  });
  const log = scratch.git(
    'log',
    '--reverse',
    '--format=%s %(trailers:key=Countdown-Number,valueonly,separator=)',
    `main..${after.branch_name}`,
  );
  expect(log.split('\n')).toEqual(['count: 3 3', 'count: 2 2', 'count: 1 1']);
  expect(scratch.git('log', '--format=%s', `main..${after.branch_name}-helper`)).toBe('count: 1');
  const store = await openSqlite({ path: pulse.home.database, modules: loops });
  expect(await store.read((db) => findCountdown(db, session.id))).toMatchObject({ at: 0, is_fuse_lit: 1 });
  await store.close();
});
