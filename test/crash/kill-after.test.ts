/** Real SIGKILL at every step of a merge and of a discard: said again, it is done once. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPulse } from '../../src/pulse.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';

const FIXTURE = (await bundlePackage())('test/crash/fixtures/after.ts');
const AGENT = 'cat > /dev/null; echo x > new.txt; echo "Wrote it."; echo "<signal>COMPLETE</signal>"';

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each(['SQLite', 'PostgreSQL'])('after a session, on %s', (store) => {
  async function complete(): Promise<{ scratch: Scratch; id: string; branch: string }> {
    const scratch = createScratch();
    if (store === 'PostgreSQL') scratch.environment.PULSE_DATABASE_URL = await server.createDatabase();
    await using pulse = await createPulse({ environment: scratch.environment });
    const { session } = await pulse.start({
      ...{ goal: 'Write it', path: scratch.repository, createdBy: 'cli' },
      command: `sh '${scratch.file('agent.sh', AGENT)}'`,
    });
    await pulse.run(session.id, new AbortController().signal);
    return { scratch, id: session.id, branch: session.branch_name };
  }

  it.each([
    { how: 'merge', isCheckedOut: false, git: ['merge-base', 'merge-tree', 'update-ref'] },
    { how: 'squash', isCheckedOut: true, git: ['status', 'merge-tree', 'merge'] },
  ])('a killed $how merges once', { timeout: 120_000 }, async ({ how, isCheckedOut, git }) => {
    const { scratch, id } = await complete();
    using _ = scratch;
    writeFileSync(join(scratch.repository, 'meanwhile.txt'), 'mine\n');
    scratch.git('add', '-A');
    scratch.git('commit', '-q', '-m', 'mine');
    if (!isCheckedOut) scratch.git('switch', '-q', '--detach');
    const main = scratch.git('rev-parse', 'main');
    for (const where of ['merge:before', ...git.map((name) => `git ${name}`)]) {
      await killed(scratch, { id, word: how, where });
      expect(scratch.git('rev-parse', 'main'), where).toBe(main);
      expect(await rowOf(scratch, id), where).toMatchObject({ merged_at: null, told: [] });
    }
    await killed(scratch, { id, word: how, where: 'merge:after' });
    const merged = scratch.git('rev-parse', 'main');
    expect(merged).not.toBe(main);
    expect(await rowOf(scratch, id)).toMatchObject({ merged_at: null, told: [] });
    expect(await run(scratch, { id, word: how })).toBe(0);
    expect(await run(scratch, { id, word: how })).toBe(0);
    expect(scratch.git('rev-parse', 'main')).toBe(merged);
    expect(scratch.git('status', '--porcelain')).toBe('');
    expect(await rowOf(scratch, id)).toMatchObject({ merged_sha: merged, told: ['session.merged'] });
  });

  it('a killed discard takes all away or nothing, and is recognised', { timeout: 120_000 }, async () => {
    const { scratch, id, branch } = await complete();
    using _ = scratch;
    const tip = scratch.git('rev-parse', branch);
    const refs = scratch.git('for-each-ref');
    for (const where of ['discard:before', 'git mktag', 'git update-ref']) {
      await killed(scratch, { id, word: 'discard', where });
      expect(scratch.git('for-each-ref'), where).toBe(refs);
      expect(await rowOf(scratch, id), where).toMatchObject({ discarded_at: null, told: [] });
    }
    await killed(scratch, { id, word: 'discard', where: 'discard:after' });
    const kept = `refs/pulse/recovery/${id}/branches/${branch}`;
    expect(scratch.git('rev-parse', `${kept}^{commit}`)).toBe(tip);
    expect(await rowOf(scratch, id)).toMatchObject({ discarded_at: null, told: [] });
    expect(await run(scratch, { id, word: 'discard' })).toBe(0);
    expect(await run(scratch, { id, word: 'discard' })).toBe(0);
    expect(scratch.git('for-each-ref', '--format=%(refname)').split('\n').toSorted()).toEqual(
      ['refs/heads/main', kept].toSorted(),
    );
    expect(await rowOf(scratch, id)).toMatchObject({ discarded_by: 'test', told: ['session.discarded'] });
  });
});

async function rowOf(scratch: Scratch, id: string) {
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session, events } = await pulse.export(id);
  const told = events.map(({ type }) => type).filter((type) => /\.(merged|discarded)$/.test(type));
  return { ...session, told };
}

interface Word {
  id: string;
  word: string;
  where?: string;
}

function run(scratch: Scratch, { id, word, where }: Word): Promise<unknown> {
  const args = [FIXTURE, id, word, ...(where ? [where] : [])];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: scratch.environment,
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
}

async function killed(scratch: Scratch, word: Word): Promise<void> {
  expect(await run(scratch, word), word.where).toBe('SIGKILL');
}
