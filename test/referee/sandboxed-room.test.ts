/** With the sandbox on: what an agent sees of the room, and what a check sees of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sandboxState } from '../../src/process/sandbox-state.ts';
import { COMPLETE, makeScene } from '../engine/scene.ts';

const state = await sandboxState(process.env.PATH);

describe.skipIf(!state.works)('a room in the sandbox (needs bubblewrap)', () => {
  it('is out of an agent’s sight, and so are the key and the database', async () => {
    const scene = await makeScene();
    const home = join(scene.folder, 'state');
    const look = `(ls -A ${home}; ls ${home}/rooms; touch ${home}/rooms/planted) > seen.txt 2>&1`;
    const session = await scene.startAndRun('', {
      command: `${look}; ${COMPLETE}`,
      verify: ['true'],
      sandbox: 'on',
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', trust: 'verified' });
    const seen = scene.sh(scene.root, 'show', `${session.branch_name}:seen.txt`);
    for (const name of ['key', 'pulse.db', 'token', 'ses_']) expect(seen).not.toContain(name);
    expect(existsSync(join(home, 'rooms/planted'))).toBe(false);
  });

  it('shows its checks the claim, and neither what puts it back nor Pulse’s own repository of it', async () => {
    const scene = await makeScene();
    const hidden = 'test ! -e ../prepared && test ! -e ../git/config && test ! -e ../current';
    const usable = 'test -f a.txt && git status --porcelain && echo x > left && echo y > "$XDG_CACHE_HOME/z"';
    const session = await scene.startAndRun('', {
      command: `echo b > b.txt; ${COMPLETE}`,
      verify: [`${hidden} && ${usable}`],
      sandbox: 'on',
      maxIterations: 1,
    });
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
  });
});
