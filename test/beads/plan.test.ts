/** `bead plan`: an agent drafts, Pulse writes a file, a person imports it. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { runner } from '../crash/kill-suite.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { type SharedPostgres, sharePostgres } from '../fakes/shared-postgres.ts';

const DRAFT = {
  epic: { id: 'dates', title: 'Dates' },
  beads: [
    { id: 'dates-1', title: 'Parse', body: 'Do it.', files: ['src/a.ts'], verify: ['npm test'] },
    { id: 'dates-2', title: 'Show', files: ['src/b.ts'], verify: ['make'], dependencies: ['dates-1'] },
  ],
};
const GOOD = proposing(DRAFT);

function proposing(draft: object, to = 'reply.json'): string {
  return `pulse tool propose_beads '${JSON.stringify({ draft })}' > "$OUT/${to}"`;
}

interface Scene extends AsyncDisposable {
  scratch: Scratch;
  pulse: Pulse;
  start(script: string, more?: object): Promise<string>;
  drive(id: string): ReturnType<Pulse['bead']['showPlan']>;
}

async function createScene(databaseUrl?: string): Promise<Scene> {
  const scratch = createScratch();
  if (databaseUrl) scratch.environment.PULSE_DATABASE_URL = databaseUrl;
  const pulse = await createPulse({ environment: scratch.environment });
  return {
    scratch,
    pulse,
    async start(script, more = {}) {
      const head = `cat >> "$OUT/brief-$PULSE_ITERATION"\n`;
      const command = `OUT='${scratch.path}' sh '${scratch.file('agent.sh', `${head}${script}`)}'`;
      const asked = { path: scratch.repository, goal: 'Dates in words', command, createdBy: 'cli' as const };
      return (await pulse.bead.plan({ ...asked, ...more })).session.id;
    },
    async drive(id) {
      await pulse.run(id, new AbortController().signal);
      return pulse.bead.showPlan(id);
    },
    async [Symbol.asyncDispose]() {
      await pulse[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

let server: SharedPostgres;
beforeAll(async () => {
  server = await sharePostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('drafting beads', { timeout: 60_000 }, () => {
  it.each(['SQLite', 'PostgreSQL'])('writes a file that is imported as it is (%s)', async (store) => {
    await using scene = await createScene(store === 'SQLite' ? undefined : await server.createDatabase());
    const { scratch, pulse } = scene;
    const id = await scene.start(`echo changed > planted.txt; ${GOOD}`);
    const { session, file, draft, commands, content } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete', total_commits: 0 });
    expect(file).toMatch(/^\.pulse\/plans\/dates-in-words-[0-9a-f]{6}\.yaml$/);
    expect(readFileSync(join(scratch.repository, file!), 'utf8')).toBe(content);
    expect(draft?.beads.map((bead) => bead.id)).toEqual(['dates-1', 'dates-2']);
    expect(commands).toEqual([
      { bead: 'dates-1', command: 'npm test' },
      { bead: 'dates-2', command: 'make' },
    ]);
    // Nothing is in the graph, nothing of the agent's changes is kept.
    const project_key = scratch.repository;
    expect((await pulse.bead.list({ project_key })).beads).toEqual([]);
    expect(existsSync(join(scratch.repository, 'planted.txt'))).toBe(false);
    expect(scratch.git('status', '--porcelain')).toBe('');
    const imported = await pulse.bead.importFile({ project_key, content: content!, file: file! });
    expect(imported.created).toEqual(['dates', 'dates-1', 'dates-2']);
    const { beads } = await pulse.bead.list({ project_key, epic: 'dates' });
    expect(beads.every(({ missing, status }) => missing.length === 0 && status === 'open')).toBe(true);
    expect((await pulse.bead.next({ project_key })).bead).toMatchObject({ id: 'dates-1', body: 'Do it.' });
    expect(await pulse.bead.importFile({ project_key, content: content!, file: file! })).toMatchObject({
      created: [],
      unchanged: 3,
    });
  });

  it('tells the agent every fault while it runs, and in the next run; then it asks a person', async () => {
    await using scene = await createScene();
    const { scratch, pulse } = scene;
    await pulse.bead.create({ project_key: scratch.repository, id: 'old', title: 'Old', type: 'epic' });
    const bad = { ...DRAFT, beads: [{ ...DRAFT.beads[1], id: 'old', files: [] }] };
    const id = await scene.start(
      `[ -f "$OUT/mend" ] && { ${GOOD}; exit 0; }; ${proposing(bad, 'bad.json')} || true`,
    );
    const { session, file } = await scene.drive(id);
    expect(session).toMatchObject({
      status: 'blocked',
      stop_reason: 'blocked_by_agent',
      current_iteration: 3,
    });
    expect(file).toBeNull();
    const { reasons } = JSON.parse(readFileSync(join(scratch.path, 'bad.json'), 'utf8'));
    expect(reasons).toHaveLength(3);
    for (const said of [session.blocked_reason, scratch.read('../brief-2')])
      for (const part of ['"old" in the project already', '"old" lacks files', 'waits for "dates-1"'])
        expect(said).toContain(part);
    writeFileSync(join(scratch.path, 'mend'), '');
    await pulse.resume(id, { answer: 'Keep it small.' });
    const mended = await scene.drive(id);
    expect(mended.session).toMatchObject({ status: 'complete' });
    expect(scratch.read('../brief-4')).toContain('Keep it small.');
  });

  it('writes where it was told, and nowhere else', async () => {
    await using scene = await createScene();
    const { repository } = scene.scratch;
    writeFileSync(join(repository, 'there.yaml'), 'mine');
    const refused = (out: string) => scene.start(GOOD, { out });
    await expect(refused('there.yaml')).rejects.toMatchObject({ code: 'invalid_input', hint: /--out/ });
    for (const out of ['../out.yaml', '/tmp/out.yaml', '.git/x.yaml', '.pulse/config.yaml', ''])
      await expect(refused(out), out).rejects.toMatchObject({
        code: expect.stringMatching(/path_outside|usage|invalid/),
      });
    await expect(refused('plan.txt')).rejects.toMatchObject({ code: 'invalid_input' });
    // Somebody takes the name while the agent drafts; a link that leads out is not followed.
    const id = await scene.start(`echo other > '${repository}/docs/plan.yaml'; ${GOOD}`, {
      out: 'docs/plan.yaml',
    });
    mkdirSync(join(repository, 'docs'));
    expect((await scene.drive(id)).file).toBe('docs/plan-2.yaml');
    expect(readFileSync(join(repository, 'docs/plan.yaml'), 'utf8')).toBe('other\n');
    symlinkSync(scene.scratch.path, join(repository, 'away'));
    const led = await scene.start(GOOD, { out: 'away/plan.yaml' });
    expect((await scene.drive(led)).session).toMatchObject({
      status: 'failed',
      blocked_reason: expect.stringContaining('a link is in the way'),
    });
    expect(readdirSync(scene.scratch.path)).not.toContain('plan.yaml');
  });

  it.each([
    ['SQLite', 'write_plan:before'],
    ['SQLite', 'write_plan:after'],
    ['PostgreSQL', 'write_plan:after'],
    ['SQLite', 'settle:after'],
  ] as const)(
    'killed on %s at %s, it is completed by the next runner, with one file',
    async (store, where) => {
      await using scene = await createScene(store === 'SQLite' ? undefined : await server.createDatabase());
      const { scratch, pulse } = scene;
      const id = await scene.start(`echo run >> "$OUT/runs"; ${GOOD}`);
      expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
      expect(await runner(scratch, id)).toBe(0);
      expect((await pulse.bead.showPlan(id)).session).toMatchObject({ status: 'complete' });
      expect(readdirSync(join(scratch.repository, '.pulse/plans'))).toHaveLength(1);
      expect(scratch.read('../runs')).toBe('run\n');
      const { events } = await pulse.export(id);
      expect(events.filter(({ type }) => type === 'beads.drafted')).toHaveLength(1);
    },
  );
});
