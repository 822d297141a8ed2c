/** `pulse bead`, as a person types it. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BeadView } from '../../src/loops/beads/operations/view-schema.ts';
import { useScene } from '../e2e/scene.ts';

const scene = useScene();

async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await scene.pulse(['bead', ...args, '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}
const bead = async (...args: string[]) => (await json<{ bead: BeadView }>(...args)).bead;
const fails = async (...args: string[]) => {
  const { code, stdout } = await scene.pulse(['bead', ...args, '--json']);
  return [code, JSON.parse(stdout).error.code];
};
const WORK = ['--file', 'src/a.ts', '--verify', 'npm test'];

describe('pulse bead', { timeout: 120_000 }, () => {
  it('makes, lists, orders, widens, changes and closes beads', async () => {
    await bead('create', '--title', 'Dates', '--type', 'epic', '--id', 'E');
    const made = await bead(
      ...[
        'create',
        '--title',
        'Parse',
        '--epic',
        'E',
        '--priority',
        '0',
        '--file',
        join(scene.repository, 'src/a.ts'),
      ],
      ...['--verify', 'npm test', '--verify', 'make', '--expect', '/ok/', '--testing-mode', 'tdd-required'],
      ...['--red', 'npm test', '--green', 'npm test', '--decision', 'D1', '--label', 'ui', '--body', 'Text'],
    );
    expect(Object.keys(made)).toEqual([
      ...[
        'id',
        'title',
        'type',
        'status',
        'priority',
        'epic',
        'feature',
        'body',
        'labels',
        'dependencies',
        'files',
      ],
      ...['verify', 'verification_evidence', 'testing_mode', 'tdd_steps', 'decision_refs', 'learning_refs'],
      ...[
        'changesChecks',
        'missing',
        'assignee',
        'claim',
        'created_at',
        'updated_at',
        'closed_at',
        'close_reason',
      ],
    ]);
    expect(made).toMatchObject({
      id: expect.stringMatching(/^repo-[0-9a-z]{4}$/),
      status: 'open',
      priority: 0,
      epic: 'E',
      feature: 'dates',
      files: ['src/a.ts'],
      verify: [{ command: 'npm test', expect: '/ok/' }, { command: 'make' }],
      verification_evidence: `history/dates/verification/${made.id}.md`,
      tdd_steps: { red: 'npm test', green: 'npm test' },
      missing: [],
    });
    const waits = await bead('create', '--title', 'Show', '--epic', 'E', '--dep', made.id, ...WORK);
    const bare = await bead('create', '--title', 'Bare', '--epic', 'E');
    expect(bare).toMatchObject({
      status: 'blocked',
      labels: ['needs-planning'],
      missing: ['files', 'verify'],
    });
    const inbox = await scene.pulse(['mail', 'inbox', '--as', 'coordinator', '--topic', 'epic-E', '--json']);
    const { messages } = JSON.parse(inbox.stdout);
    expect(messages).toHaveLength(1);
    expect(messages[0].body_md).toMatch(/files[\s\S]*verify/);

    const { beads } = await json<{ beads: BeadView[] }>('list');
    expect(beads.map(({ id }) => id)).toEqual(['E', made.id, waits.id, bare.id]);
    expect(await json('next', '--epic', 'E')).toEqual({ bead: made });
    expect(await json('next', '--why')).toEqual({
      bead: made,
      why: {
        chosen: {
          id: made.id,
          priority: 0,
          critical_path: 1,
          pagerank: expect.any(Number),
          unblocks: 1,
          created_at: made.created_at,
        },
        skipped: [
          { id: waits.id, reasons: [`it waits for ${made.id}`] },
          { id: bare.id, reasons: ['its status is blocked', 'it lacks files, verify'] },
        ],
      },
    });
    expect((await bead('scope', waits.id, '--add', 'src/b.ts')).files).toEqual(['src/a.ts', 'src/b.ts']);
    expect(await bead('update', bare.id, ...WORK)).toMatchObject({ status: 'open', missing: [], labels: [] });
    expect(await bead('close', made.id, '--reason', 'Completed: parsed')).toMatchObject({
      status: 'closed',
      close_reason: 'Completed: parsed',
      closed_at: expect.any(String),
    });
    expect(await bead('show', made.id)).toMatchObject({ status: 'closed' });
    const again = await scene.pulse(['bead', 'close', made.id, '--reason', 'Other', '--json']);
    expect(again.stderr).toMatch(/was closed already, 20.*: Completed: parsed/);
    expect(JSON.parse(again.stdout).bead.close_reason).toBe('Completed: parsed');
    for (const id of [waits.id, bare.id]) await bead('close', id);
    expect(await json('next')).toEqual({ bead: null });
    const text = await scene.pulse(['bead', 'list']);
    expect(text.stdout).toContain(`✓ ${made.id} P0 Parse`);
    // Every worktree of the repository has the same beads.
    scene.git('worktree', 'add', '-q', join(scene.directory, 'other'));
    const there = await scene.pulse(['bead', 'show', made.id], { cwd: join(scene.directory, 'other') });
    expect(there.code).toBe(0);
  });

  it('refuses what makes no sense with exit 2, and changes nothing', async () => {
    await bead('create', '--title', 'A', '--id', 'a', ...WORK);
    const refused: [string[], string][] = [
      [['show', 'nobody'], 'not_found'],
      [['close', 'nobody', '--reason', 'x'], 'not_found'],
      [['next', '--epic', 'nobody'], 'not_found'],
      [['next', '--epic', 'a'], 'not_found'],
      [['create', '--title', 'B', '--dep', 'nobody'], 'not_found'],
      [['create', '--title', 'B', '--epic', 'nobody'], 'not_found'],
      [['create', '--title', 'B', '--priority', '5'], 'invalid_input'],
      [['create', '--title', 'B', '--priority', '-1'], 'usage'],
      [['create', '--title', 'B', '--testing-mode', 'never'], 'usage'],
      [['create', '--title', 'B', '--file', '../x'], 'path_outside'],
      [['create', '--title', 'B', '--file', '/etc/passwd'], 'path_outside'],
      [['create', '--title', 'B', '--verify', 'x', '--expect', 'a', '--expect', 'b'], 'usage'],
      [['create', '--title', 'B', '--red', 'x'], 'usage'],
      [['create', 'Title'], 'usage'],
      [['create'], 'usage'],
      [['scope', 'a'], 'usage'],
      [['scope', 'a', '--add', '../../x'], 'path_outside'],
      [['show'], 'usage'],
      [['import', 'nothing.jsonl'], 'invalid_input'],
      [['update', 'a', '--dep', 'a'], 'invalid_input'],
      [['update', 'a', '--status', 'closed'], 'invalid_input'],
    ];
    for (const [args, code] of refused) expect(await fails(...args), args.join(' ')).toEqual([2, code]);
    const { beads } = await json<{ beads: BeadView[] }>('list');
    expect(beads).toMatchObject([{ id: 'a', status: 'open', files: ['src/a.ts'] }]);
    expect((await scene.pulse(['bead', 'list'], { cwd: '/' })).code).toBe(2);
  });

  it('is for people inside a run, but for looking', async () => {
    await bead('create', '--title', 'A', '--id', 'a', ...WORK);
    const env = { PULSE_RUN_ID: 'run' };
    for (const args of [
      ['close', 'a'],
      ['create', '--title', 'B'],
      ['scope', 'a', '--add', 'x'],
      ['update', 'a'],
      ['import', 'x'],
    ]) {
      const { code, stdout } = await scene.pulse(['bead', ...args, '--json'], { env });
      expect([code, JSON.parse(stdout).error.code], args.join(' ')).toEqual([2, 'inside_run']);
    }
    for (const args of [['list'], ['show', 'a'], ['next'], ['export']])
      expect((await scene.pulse(['bead', ...args], { env })).code, args.join(' ')).toBe(0);
    expect((await bead('show', 'a')).status).toBe('open');
  });

  it('has beads drafted, and shows every command before anything is imported', async () => {
    const check = { command: 'make', expect: 'ok' };
    const draft = {
      epic: { id: 'dates', title: 'Dates\u001b[31m' },
      beads: [
        { id: 'dates-1', title: 'Parse', files: ['a.ts'], verify: ['npm test'] },
        {
          id: 'dates-2',
          title: 'Show',
          files: ['b.ts'],
          verify: [check, 'npm test'],
          dependencies: ['dates-1'],
        },
      ],
    };
    const command = `cat > /dev/null; pulse tool propose_beads '${JSON.stringify({ draft })}'`;
    const asked = ['bead', 'plan', 'Dates in words', '--command', command];
    const { code, stderr } = await scene.pulse([...asked, '--out', 'dates.yaml']);
    expect(code, stderr).toBe(0);
    const path = join(scene.repository, 'dates.yaml');
    for (const line of [
      'Dates  epic dates',
      '  dates-1  Parse',
      '  dates-2  Show  after dates-1',
      '  npm test (dates-1, dates-2)',
      '  make (dates-2)',
      `import pulse bead import ${path}`,
    ])
      expect(stderr.split('\n'), stderr).toContain(line);
    expect(await json('list')).toEqual({ beads: [] });
    expect(await json('draft', 'last')).toMatchObject({
      file: 'dates.yaml',
      draft: { epic: { id: 'dates' } },
    });
    const shown = await scene.pulse(['bead', 'draft', 'last']);
    expect(shown.stdout).toMatch(/dates-2 {2}Show {2}after dates-1[\s\S]*make \(dates-2\)[\s\S]*bead import/);
    const again = await scene.pulse([...asked, '--out', 'dates.yaml']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is there already')]);
    expect((await json<{ created: string[] }>('import', 'dates.yaml')).created).toHaveLength(3);
    expect(await fails('plan')).toEqual([2, 'usage']);
    writeFileSync(path, readFileSync(path, 'utf8').replace('b.ts', '../b.ts'));
    const broken = await scene.pulse(['bead', 'import', 'dates.yaml']);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('../b.ts')]);
  });

  it('shows the graph, of an epic too', async () => {
    await bead('create', '--title', 'Dates', '--type', 'epic', '--id', 'E');
    await bead('create', '--title', 'A', '--id', 'a', '--epic', 'E', ...WORK);
    await bead('create', '--title', 'B', '--id', 'b', '--dep', 'a', ...WORK);
    expect(await json('graph', '--epic', 'E')).toMatchObject({ nodes: [{ id: 'E' }, { id: 'a' }] });
    expect(await json('graph')).toMatchObject({
      edges: expect.arrayContaining([{ from: 'b', to: 'a', type: 'blocks' }]),
    });
    const { stdout } = await scene.pulse(['bead', 'graph']);
    expect(stdout).toMatch(/· a P2 A {2}chain 1, unblocks 1, ready/);
    expect(stdout).toMatch(/· b P2 B[^\n]*\n +waits for a A/);
    expect(await fails('graph', '--epic', 'none')).toEqual([2, 'not_found']);
  });

  it('imports and exports issue files', async () => {
    mkdirSync(join(scene.repository, '.beads'));
    const file = join(scene.repository, '.beads/issues.jsonl');
    const text =
      '{"id":"a","title":"A \\u0026 B","status":"open","priority":1,"issue_type":"task","n":1.0}\r\n' +
      '{"id":"b","title":"B","dependencies":[{"depends_on_id":"a","type":"blocks"}]}\n{"other":true}';
    writeFileSync(file, text);
    expect(await json('import', '.beads/issues.jsonl')).toEqual({
      created: ['a', 'b'],
      updated: [],
      unchanged: 0,
      kept: 1,
    });
    expect((await scene.pulse(['bead', 'export'])).stdout).toBe(text);
    await bead('close', 'a', '--reason', 'Completed: it');
    expect(await json('export', '.beads/issues.jsonl')).toEqual({ path: file });
    const [line] = readFileSync(file, 'utf8').split('\r\n');
    expect(line).toMatch(
      /^\{"id":"a","title":"A \\u0026 B","status":"closed","priority":1,"issue_type":"task","n":1\.0,/,
    );
    expect(await json('import', file)).toMatchObject({ created: [], updated: [], unchanged: 2 });
    writeFileSync(file, `${text}\n{"id":"c","title":"C"\n`);
    const broken = await scene.pulse(['bead', 'import', file]);
    expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining('line 4')]);
    writeFileSync(file, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
    expect(await fails('import', file)).toEqual([2, 'invalid_input']);
    symlinkSync('/etc/passwd', join(scene.repository, 'link.jsonl'));
    expect((await fails('import', 'link.jsonl'))[0]).toBe(2);
    writeFileSync(join(scene.repository, 'plan.md'), '# Plan\n- [ ] One\n- [x] Two\n');
    expect((await json<{ created: string[] }>('import', 'plan.md')).created).toHaveLength(3);
  });

  it('starts a swarm on the epic of --epic, or of the word after start', async () => {
    const swarm = async (...args: string[]) => {
      const { code, stdout } = await scene.pulse(['swarm', ...args, '--json']);
      return [code, JSON.parse(stdout.trim().split('\n').at(-1)!)] as const;
    };
    expect((await scene.pulse(['init', '--json'])).code).toBe(0);
    await bead('create', '--title', 'Dates', '--type', 'epic', '--id', 'E');
    for (const epic of [['--epic', 'E'], ['E'], ['E', '--epic', 'E']]) {
      const [code, { session }] = await swarm('start', ...epic, '--command', 'true', '--workers', '1');
      expect([code, session.kind, session.goal, session.status]).toEqual([0, 'beads', 'Dates', 'complete']);
    }
    expect(await swarm('queue', 'last')).toEqual([0, { queue: [] }]);
    expect(await swarm('handoffs', 'last')).toEqual([0, { handoffs: [] }]);
    expect((await scene.pulse(['swarm', 'queue', 'last'])).stderr).toContain('Nothing waits to be merged.');
    for (const args of [
      ['start'],
      ['start', 'E', '--epic', 'F'],
      ['show'],
      ['queue'],
      ['handoffs'],
      ['stop'],
    ]) {
      const [code, { error }] = await swarm(...args);
      expect([code, error.code], args.join(' ')).toEqual([2, 'usage']);
    }
    const [code, { error }] = await swarm('start', '--epic', 'nope', '--command', 'true');
    expect([code, error.code]).toEqual([2, 'not_found']);
    const planned = await scene.pulse([
      'schedule',
      'add',
      'in 2h',
      '--json',
      '--',
      'swarm',
      'start',
      '--epic',
      'E',
    ]);
    expect([planned.code, planned.stdout], planned.stderr).toEqual([
      0,
      expect.stringContaining('swarm start'),
    ]);
  });

  it('makes an imported bead workable by its files and its checks alone', async () => {
    const file = join(scene.repository, 'issues.jsonl');
    writeFileSync(file, '{"id":"a","title":"A","status":"open","priority":1}\n');
    await json('import', file);
    expect(await json('next')).toEqual({ bead: null });
    expect(await bead('update', 'a', '--priority', '0')).toMatchObject({ testing_mode: null });
    expect(await bead('update', 'a', ...WORK)).toMatchObject({
      missing: [],
      testing_mode: 'standard',
      verification_evidence: 'history/general/verification/a.md',
    });
    expect(await json('next')).toMatchObject({ bead: { id: 'a' } });
  });

  it('ends a swarm with the runs of its workers', async () => {
    expect((await scene.pulse(['init', '--json'])).code).toBe(0);
    await bead('create', '--title', 'Dates', '--type', 'epic', '--id', 'E');
    for (const id of ['a', 'b'])
      await bead(
        'create',
        '--title',
        id,
        '--id',
        id,
        '--epic',
        'E',
        '--file',
        `${id}.txt`,
        '--verify',
        'true',
      );
    const command = 'echo x > $PULSE_UNIT.txt';
    const ended = await scene.pulse(['swarm', 'start', 'E', '--standalone', '--command', command]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toMatch(/^ {2}2 runs · 2 commits · (?!0\.0s)\S+ running$/m);
    expect((await scene.pulse(['status', 'last'])).stdout).toMatch(/^ {2}2 runs · 2 commits · (?!0\.0s)/m);
  });

  it('starts one worker alone where the tooling status recommends it, and says so', async () => {
    expect((await scene.pulse(['init', '--json'])).code).toBe(0);
    const place = join(scene.repository, '.pulse/tooling-status.json');
    const status = JSON.parse(readFileSync(place, 'utf8'));
    writeFileSync(place, JSON.stringify({ ...status, recommended_mode: 'single-worker' }));
    await bead('create', '--title', 'Dates', '--type', 'epic', '--id', 'E');
    const started = await scene.pulse(['swarm', 'start', 'E', '--workers', '3', '--command', 'true']);
    expect(started.code, started.stderr).toBe(0);
    expect(started.stderr).toContain(
      'One worker alone: .pulse/tooling-status.json recommends single-worker.',
    );
    const shown = JSON.parse((await scene.pulse(['swarm', 'show', 'last', '--json'])).stdout);
    expect(shown.swarm).toMatchObject({ mode: 'standalone', workers: 1 });
  });
});
