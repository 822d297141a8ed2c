/** Handoffs in real files: nothing is lost by a crash, by two workers at once or by what others write. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handoffPayload, ownerOf } from '../../../src/loops/beads/files/handoff-payload.ts';
import {
  consumeHandoff,
  findHandoff,
  listHandoffs,
  reassignHandoff,
  writeHandoff,
} from '../../../src/loops/beads/files/handoffs.ts';

const AT = '2026-02-03T04:05:06.000Z';
let folder: string;
let root: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-test-')));
  root = join(folder, 'root');
  mkdirSync(root);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function payloadOf(mailName: string, pausedAt = AT) {
  return handoffPayload({
    mode: 'worker',
    nickname: 'worker-1',
    mailName,
    epicId: 'app-9',
    topic: 'epic-app-9',
    coordinator: 'Coordinator',
    feature: 'auth',
    pausedAt,
    contextUsed: 0.67,
    closedBeads: ['app-1'],
  });
}

const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const manifest = () => json('.pulse/handoffs/manifest.json');
const owners = () => manifest().active.map(({ owner_id }: { owner_id: string }) => owner_id);

describe('a handoff', () => {
  it('is a file of its owner, an entry of the manifest and a checkpoint of the feature', async () => {
    const handoff = payloadOf('BlueFox');
    await writeHandoff(root, handoff);
    expect(json('.pulse/handoffs/worker-BlueFox.json')).toEqual(handoff);
    expect(manifest().active).toEqual([
      expect.objectContaining({
        owner_id: 'worker-BlueFox',
        handoff_id: handoff.handoff_id,
        summary: handoff.summary,
        next_action: handoff.next_action,
        path: '.pulse/handoffs/worker-BlueFox.json',
        status: 'ready_to_resume',
      }),
    ]);
    const [name] = readdirSync(join(root, '.pulse/checkpoints/auth'));
    expect(name).toBe('worker-BlueFox-2026-02-03T04-05-06.000Z.json');
    expect(json(`.pulse/checkpoints/auth/${name}`)).toMatchObject({
      feature: 'auth',
      last_bead_closed: 'app-1',
    });
    expect(await findHandoff(root, 'worker-BlueFox')).toEqual(handoff);
    expect(await findHandoff(root, 'worker-Other')).toBeNull();
  });

  it('of a single worker has its own file', async () => {
    const facts = { feature: 'auth', pausedAt: AT, contextUsed: 0.7, closedBeads: [], nextHint: null };
    await writeHandoff(root, handoffPayload({ mode: 'standalone', ...facts }));
    expect(existsSync(join(root, '.pulse/handoffs/single-worker.json'))).toBe(true);
    expect(await findHandoff(root, ownerOf(null))).not.toBeNull();
  });

  it('is consumed once, and leaves the manifest', async () => {
    await writeHandoff(root, payloadOf('A'));
    await writeHandoff(root, payloadOf('B'));
    expect((await consumeHandoff(root, 'worker-A', { at: AT }))?.status).toBe('consumed');
    expect(json('.pulse/handoffs/worker-A.json')).toMatchObject({ status: 'consumed', consumed_at: AT });
    expect(owners()).toEqual(['worker-B']);
    expect(await findHandoff(root, 'worker-A')).toBeNull();
    expect(await consumeHandoff(root, 'worker-A', { at: AT })).toBeNull();
    expect((await listHandoffs(root)).map(({ owner_id }) => owner_id)).toEqual(['worker-B']);
  });

  it('is written again by the same owner', async () => {
    await writeHandoff(root, payloadOf('A'));
    await consumeHandoff(root, 'worker-A', { at: AT });
    await writeHandoff(root, payloadOf('A', '2026-02-04T00:00:00.000Z'));
    expect(owners()).toEqual(['worker-A']);
    expect(readdirSync(join(root, '.pulse/checkpoints/auth'))).toHaveLength(2);
  });

  it('is given to another owner, which is recorded', async () => {
    await writeHandoff(root, payloadOf('A'));
    const step = { from: 'worker-A', to: 'worker-B', at: AT, reason: 'A is gone' };
    const given = await reassignHandoff(root, step);
    expect(given).toMatchObject({ owner_id: 'worker-B', reassigned: [step] });
    expect(given.read_first).toContain('.pulse/handoffs/worker-B.json');
    expect(owners()).toEqual(['worker-B']);
    expect(manifest().reassigned).toEqual([{ handoff_id: given.handoff_id, ...step }]);
    expect(json('.pulse/handoffs/worker-A.json')).toMatchObject({
      status: 'reassigned',
      reassigned_to: 'worker-B',
    });
    expect(await findHandoff(root, 'worker-A')).toBeNull();
    // A crash may make it happen twice.
    expect(await reassignHandoff(root, step)).toEqual(given);
  });

  it('is given to another once, wherever the first try broke off', async () => {
    const step = { from: 'worker-A', to: 'worker-B', at: AT, reason: 'A is gone' };
    await writeHandoff(root, payloadOf('A'));
    const before = readFileSync(join(root, '.pulse/handoffs/worker-A.json'));
    await reassignHandoff(root, step);
    writeFileSync(join(root, '.pulse/handoffs/worker-A.json'), before);
    const given = await reassignHandoff(root, step);
    expect(given.reassigned).toEqual([step]);
    expect(owners()).toEqual(['worker-B']);
  });

  it('is not put over another one, and not made of nothing', async () => {
    await writeHandoff(root, payloadOf('A'));
    await writeHandoff(root, payloadOf('B'));
    const step = { from: 'worker-A', to: 'worker-B', at: AT, reason: 'x' };
    await expect(reassignHandoff(root, step)).rejects.toMatchObject({ code: 'invalid_transition' });
    await expect(reassignHandoff(root, { ...step, from: 'worker-C' })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(owners()).toEqual(['worker-A', 'worker-B']);
  });
});

describe('the manifest', () => {
  it('lists all of several workers that pause at once, though one of them is stopped on the way', async () => {
    const names = ['A', 'B', 'C', 'D'];
    const workers = names.map((name) => startWorker(name));
    const tellAll = async (line: string, round: number) => {
      const late = workers[round % workers.length]!;
      const rest = workers.filter((worker) => worker !== late);
      const before = statusOf(late.name);
      const told = late.tell(line);
      // It has looked at what is there, and is about to write the manifest.
      until(() => statusOf(late.name) !== before);
      until(() => readdirSync(join(root, '.pulse/handoffs')).some((name) => name.endsWith('.tmp')));
      late.child.kill('SIGSTOP');
      await Promise.all(rest.map((worker) => worker.tell(line)));
      late.child.kill('SIGCONT');
      await told;
    };
    try {
      for (const line of ['pause', 'resume']) await Promise.all(workers.map((worker) => worker.tell(line)));
      for (let round = 0; round < 12; round++) {
        await tellAll('pause', round);
        expect(owners().toSorted()).toEqual(names.map((name) => `worker-${name}`));
        await tellAll('resume', round);
        expect(owners()).toEqual([]);
      }
    } finally {
      await Promise.all(workers.map((worker) => worker.end()));
    }
  });

  it('is put right where a crash left it behind', async () => {
    await writeHandoff(root, payloadOf('A'));
    for (const broken of ['{"active": []}', '{"act', '[]']) {
      writeFileSync(join(root, '.pulse/handoffs/manifest.json'), broken);
      expect(await findHandoff(root, 'worker-A')).not.toBeNull();
      expect(owners()).toEqual(['worker-A']);
    }
  });

  it('keeps what other tools wrote', async () => {
    mkdirSync(join(root, '.pulse/handoffs'), { recursive: true });
    const foreign = { owner_id: 'planner', path: '.pulse/handoffs/planner.json' };
    writeFileSync(
      join(root, '.pulse/handoffs/manifest.json'),
      JSON.stringify({ note: 1, active: [foreign] }),
    );
    await writeHandoff(root, payloadOf('A'));
    await consumeHandoff(root, 'worker-A', { at: AT });
    expect(manifest()).toMatchObject({ note: 1, active: [foreign] });
  });
});

describe('what others wrote', () => {
  it('is no handoff unless it has its form and its owner', async () => {
    await writeHandoff(root, payloadOf('A'));
    const text = readFileSync(join(root, '.pulse/handoffs/worker-A.json'), 'utf8');
    writeFileSync(join(root, '.pulse/handoffs/worker-B.json'), text);
    writeFileSync(
      join(root, '.pulse/handoffs/worker-C.json'),
      '{"owner_id": "worker-C", "status": "ready_to_resume"}',
    );
    writeFileSync(join(root, '.pulse/handoffs/worker-D.json'), text.slice(0, 50));
    for (const owner of ['worker-B', 'worker-C', 'worker-D'])
      expect(await findHandoff(root, owner)).toBeNull();
    expect((await listHandoffs(root)).map(({ owner_id }) => owner_id)).toEqual(['worker-A']);
  });

  it('leads neither reading nor writing outside', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'a.json'), JSON.stringify(payloadOf('A')));
    mkdirSync(join(root, '.pulse/handoffs'), { recursive: true });
    symlinkSync(join(outside, 'a.json'), join(root, '.pulse/handoffs/worker-A.json'));
    expect(await findHandoff(root, 'worker-A')).toBeNull();
    await writeHandoff(root, payloadOf('A', '2027-01-01T00:00:00.000Z'));
    expect(readFileSync(join(outside, 'a.json'), 'utf8')).toContain(AT);
    rmSync(join(root, '.pulse'), { recursive: true });
    symlinkSync(outside, join(root, '.pulse'));
    await expect(writeHandoff(root, payloadOf('A'))).rejects.toMatchObject({ code: 'unsafe_file' });
    expect(readdirSync(outside)).toEqual(['a.json']);
    mkdirSync(join(outside, 'handoffs'));
    writeFileSync(join(outside, 'handoffs/worker-A.json'), JSON.stringify(payloadOf('A')));
    expect(await findHandoff(root, 'worker-A')).toBeNull();
    await expect(findHandoff(root, 'worker-../../x')).rejects.toMatchObject({ code: 'path_outside' });
  });
});

function startWorker(name: string) {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'fixtures/handoff-worker.ts'), root, name],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const closed = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name,
    child,
    async tell(line: string) {
      child.stdin.write(`${line}\n`);
      expect((await lines.next()).value).toBe(line);
    },
    async end() {
      child.stdin.end();
      await closed;
    },
  };
}

function statusOf(name: string): string | null {
  const path = `.pulse/handoffs/worker-${name}.json`;
  return existsSync(join(root, path)) ? json(path).status : null;
}

/** Looks without a pause: what it waits for lasts a moment. Missing it does no harm. */
function until(isTrue: () => boolean): void {
  for (const end = Date.now() + 50; Date.now() < end && !isTrue(); );
}
