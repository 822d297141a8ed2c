/** What a dead runner leaves in its worktree and its process table is dealt with before the attempt is done again. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claimAttempt } from '../../src/engine/attempt/claim.ts';
import { createGit } from '../../src/git/exec.ts';
import { ensureWorktree } from '../../src/git/worktree.ts';
import { capture } from '../../src/process/capture.ts';
import { createPulse } from '../../src/pulse.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { fakeLoops } from '../fakes/loops.ts';
import { createScratch } from '../fakes/scratch.ts';
import { dispatchForTest } from './fixtures/dispatch.ts';

/** Of this host before it was started last: nobody waits for it to speak up. */
const DEAD = `${hostname()}/00000000-0000-0000-0000-000000000000/1/1`;

it('ends what still runs in the worktree and keeps what lies there aside', { timeout: 60_000 }, async () => {
  using scratch = createScratch();
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.start({
    goal: 'Look around',
    path: scratch.repository,
    command: `kill -0 $(cat '${scratch.path}/orphan') || echo new > new.txt
      kill -0 $(cat '${scratch.path}/strayed') || echo also > also.txt; echo '<signal>COMPLETE</signal>'`,
    createdBy: 'cli',
  });
  // As a runner leaves it that died while its agent ran: the attempt is claimed, the worktree half changed.
  const store = await openSqlite({ path: pulse.home.database });
  await dispatchForTest(store, session.id);
  await store.tx('claim', (db) =>
    claimAttempt(db, {
      ...{ sessionId: session.id, owner: DEAD, leaseMs: -1, works: fakeLoops().works },
      ...{ host: { name: 'here', owners: () => 'dead' as const }, maxAgents: 4 },
    }),
  );
  await store.close();
  scratch.git('branch', session.branch_name);
  const git = createGit({ exec: (call) => capture({ file: 'git', ...call }) });
  await ensureWorktree(git, { root: scratch.repository, path: session.worktree_path, sha: session.base_sha });
  const orphan = spawn('sleep', ['60'], {
    cwd: session.worktree_path,
    detached: true,
    stdio: 'ignore',
    env: {},
  });
  const gone = once(orphan, 'exit');
  const [task] = await tasksOf(pulse.home.database);
  // One that has left the worktree is known by its run alone.
  const strayed = spawn('sleep', ['60'], {
    cwd: '/',
    detached: true,
    stdio: 'ignore',
    env: { PULSE_RUN_ID: `${task}.1` },
  });
  const strayedGone = once(strayed, 'exit');
  scratch.file('strayed', String(strayed.pid));
  scratch.file('orphan', String(orphan.pid));
  await writeFile(join(session.worktree_path, 'half.txt'), 'half\n');

  await pulse.run(session.id, new AbortController().signal);

  const { session: ended, iterations } = await pulse.show(session.id);
  expect(ended.status).toBe('complete');
  expect(iterations[0]).toMatchObject({ attempt: 2, files_changed: ['also.txt', 'new.txt'] });
  expect((await gone)[1]).toBe('SIGKILL');
  expect((await strayedGone)[1]).toBe('SIGKILL');
  expect(scratch.git('show', `refs/pulse/recovery/${session.id}/1.1:half.txt`)).toBe('half');
  expect(existsSync(session.worktree_path)).toBe(false);
});

async function tasksOf(path: string): Promise<string[]> {
  const store = await openSqlite({ path });
  const rows = await store.read((db) => db.selectFrom('inbox_tasks').select('id').execute());
  await store.close();
  return rows.map(({ id }) => id);
}
