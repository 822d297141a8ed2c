/** Real SIGKILL at the crash points that only workflows and research pass. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../src/engine/actions.ts';
import { createPulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { actionOf, drawFor, isHere, processesOf, runner, type StoreOfSuite } from './kill-suite.ts';

const SIDES = ['before', 'after'] as const;

const done = (name: string): string =>
  `pulse tool pulse_done '{"summary":"feat: ${name}","filesChanged":["${name}"]}' > /dev/null`;
/** The first pulse takes two runs; the third, if it is there, is never finished. */
const PULSES = `cat > /dev/null
case "$PULSE_UNIT" in
one) if [ -f half ]; then mv half one; ${done('one')}; else echo 1 > half; fi ;;
two) echo 2 > two; ${done('two')} ;;
three) echo x > three; sleep 0.05 ;;
esac`;

const IDEAS = `cat > /dev/null
echo "Idea of $PULSE_UNIT"
case "$PULSE_UNIT" in
exp-1) echo 90 > src/cost ;;
exp-2) echo 95 > src/cost ;;
exp-3) if [ "$(cat src/cost)" = broken ]; then echo 80 > src/cost; else echo broken > src/cost; fi ;;
esac`;

/** The first two begin from the same best, whatever happens; both help, in files of their own. */
const TWO_AT_ONCE = `cat > /dev/null
echo "Idea of $PULSE_UNIT"
together() { mkdir -p "$1"; touch "$1/$PULSE_UNIT"; while [ "$(ls "$1" | wc -l)" -lt 2 ]; do sleep 0.05; done; }
case "$PULSE_UNIT" in
exp-1) together FOLDER; echo 50 > src/a ;;
exp-2) together FOLDER; echo 30 > src/b ;;
exp-3) echo 70 > src/a ;;
esac`;

/** The first that lands is work in progress, the second a pulse. */
const WORKFLOW_POINTS: [CrashPoint, number][] = (
  [
    ['open_pulse', 1],
    ['baseline', 1],
    ['land', 1],
    ['land', 2],
  ] as const
).flatMap(([action, count]) => SIDES.map((side): [CrashPoint, number] => [`${action}:${side}`, count]));
const LANDED_AT = 2;
const STOP_POINTS: CrashPoint[] = (['give_up_pulse', 'abandon'] as const).flatMap((action) =>
  SIDES.map((side) => `${action}:${side}` as const),
);
/** One that is kept, one that is discarded, one that breaks and one that was mended. */
const RESEARCH_POINTS: [CrashPoint, number][] = (
  [
    ['measure', 2],
    ['land', 1],
    ['land', 2],
    ['land', 3],
    ['land', 4],
    ['write_files', 1],
  ] as const
).flatMap(([action, count]) => SIDES.map((side): [CrashPoint, number] => [`${action}:${side}`, count]));

/** With how often each is passed before: the ones of a worker, not of the baseline. */
const PARALLEL_POINTS: [CrashPoint, number][] = [
  ['spawn:before', 1],
  ['spawn:after', 1],
  ['dispatch:after', 2],
  ['commit:after', 2],
  ['measure:before', 2],
  ['measure:after', 3],
  ['land:before', 1],
  ['land:after', 1],
  ['land:before', 2],
  ['land:after', 2],
  ['land:after', 3],
  ['settle:after', 2],
  ['end:after', 1],
];

/** What a worker does alone it does as the one session does, above: its own are to be spawned and to land beside another. */
function stageOf([where]: [CrashPoint, number]): string {
  if (where.startsWith('spawn')) return 'spawning';
  return where.startsWith('land') ? 'landing' : 'work';
}

export function killLoops(place: StoreOfSuite): void {
  const { store, prepare } = place;
  const kind = (where: CrashPoint) => actionOf({ where });
  const counted = ([where]: [CrashPoint, number]) => actionOf({ where });
  describe(`on ${store}`, () => {
    it.each(drawFor(place, WORKFLOW_POINTS, { of: 'a workflow', kind: counted }))(
      'a workflow killed at %s (%i) ends with one commit for each pulse',
      async (where, count) => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startWorkflow(scratch, ['one', 'two']);
        expect(await runner(scratch, id, { where, count })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, pulses } = await pulse.workflow.rows(id);
        expect(session).toMatchObject({ stop_reason: 'approval_required', total_commits: 2 });
        expect(pulses.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
        const log = scratch.git('log', '--reverse', '--format=%s', `main..${session.branch_name}`);
        expect(log.split('\n')).toEqual(['feat: one', 'feat: two']);
        expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
          `refs/heads/main\nrefs/heads/${session.branch_name}`,
        );
        expect(scratch.git('for-each-ref', 'refs/pulse/attempts', 'refs/pulse/wip')).toBe('');
        expect(processesOf(scratch)).toEqual([]);
      },
    );

    it.runIf(isHere(place))(
      'a workflow killed when a pulse has just landed, then paused and resumed, does not take that for somebody else’s move',
      async () => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startWorkflow(scratch, ['one', 'two']);
        expect(await runner(scratch, id, { where: 'land:after', count: LANDED_AT })).toBe('SIGKILL');
        await using pulse = await createPulse({ environment: scratch.environment });
        await pulse.pause(id, { actor: 'test' });
        expect((await pulse.session(id)).status).toBe('paused');
        await pulse.resume(id, { actor: 'test' });
        expect(await runner(scratch, id)).toBe(0);
        const { session, pulses } = await pulse.workflow.rows(id);
        expect(session).toMatchObject({ stop_reason: 'approval_required', total_commits: 2 });
        expect(pulses.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
        const log = scratch.git('log', '--reverse', '--format=%s', `main..${session.branch_name}`);
        expect(log.split('\n')).toEqual(['feat: one', 'feat: two']);
      },
    );

    it.each(drawFor(place, STOP_POINTS, { of: 'a stopped workflow', kind }))(
      'a workflow that is stopped and killed at %s keeps what the pulse had',
      async (where) => {
        using scratch = createScratch();
        await prepare(scratch);
        const instead = `three) echo x > three; touch '${scratch.path}/at-work'; sleep 60 ;;`;
        const id = await startWorkflow(scratch, ['three'], { instead });
        expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
        await runner(scratch, id);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, pulses } = await pulse.workflow.rows(id);
        expect(session.status).toBe('paused');
        expect(pulses[0]).toMatchObject({ status: 'stopped', is_recovery_checkpoint: 1 });
        expect(scratch.git('show', `${pulses[0]!.pulse_branch}:three`)).toBe('x');
        expect(scratch.git('log', '--format=%s', `main..${pulses[0]!.pulse_branch}`)).toContain('[RECOVERY]');
        expect(processesOf(scratch)).toEqual([]);
      },
    );

    it.each(drawFor(place, ['check', 'hook'] as const, { of: 'judging', kind: () => '' }))(
      'a workflow killed while the %s of a completion runs is judged again, and makes one commit',
      async (what) => {
        using scratch = createScratch();
        await prepare(scratch);
        const judging = judgeThatKills(scratch);
        if (what === 'hook') {
          const hook = join(scratch.repository, '.git', 'hooks', 'pre-commit');
          writeFileSync(hook, `#!/bin/sh\n${judging}\n`, { mode: 0o755 });
        }
        const verify = what === 'check' ? [{ command: judging, source: 'Build' }] : [];
        const id = await startWorkflow(scratch, ['two'], { plan: { verify } });
        expect(await runner(scratch, id, { where: 'judging', count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, pulses } = await pulse.workflow.rows(id);
        expect(session).toMatchObject({ stop_reason: 'approval_required', total_commits: 1 });
        expect(pulses).toMatchObject([{ status: 'succeeded', runs: 1, rejections: 0 }]);
        expect(readFileSync(join(scratch.path, 'judged'), 'utf8')).toBe('judged\njudged\n');
        expect(scratch.git('log', '--format=%s', `main..${session.branch_name}`)).toBe('feat: two');
        expect(scratch.git('show', `refs/pulse/recovery/${id}/2.1:two`)).toBe('2');
        expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/heads')).toBe(
          `refs/heads/main\nrefs/heads/${session.branch_name}`,
        );
        expect(scratch.git('for-each-ref', 'refs/pulse/attempts', 'refs/pulse/wip')).toBe('');
        expect(processesOf(scratch)).toEqual([]);
      },
    );

    it.runIf(isHere(place))(
      'a workflow killed after its setup sets up again what the next preflight clears away',
      async () => {
        using scratch = createScratch();
        await prepare(scratch);
        const plan = {
          preflight: ['mkdir vendor && echo v > vendor/lib'],
          verify: [{ command: 'test -f vendor/lib', source: 'Build' }],
        };
        const id = await startWorkflow(scratch, ['two'], { plan });
        expect(await runner(scratch, id, { where: 'baseline:before', count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, baseline } = await pulse.workflow.rows(id);
        expect(session).toMatchObject({ stop_reason: 'approval_required', total_commits: 1 });
        expect(baseline).toEqual([]);
      },
    );

    it.each(drawFor(place, RESEARCH_POINTS, { of: 'research', kind: counted }))(
      'research killed at %s (%i): log, branch and best agree',
      async (where, count) => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startResearch(scratch);
        expect(await runner(scratch, id, { where, count })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, research, experiments } = await pulse.research.rows(id);
        expect(session).toMatchObject({
          status: 'complete',
          stop_reason: 'iteration_limit',
          total_commits: 2,
        });
        expect(experiments.map(({ status }) => status)).toEqual(['keep', 'discard', 'keep']);
        expect(research.best).toBe(80);
        expect(scratch.git('show', `${session.branch_name}:src/cost`)).toBe('80');
        const tsv = readTsv(scratch);
        expect(tsv.map((row) => [row[0], row[4]])).toEqual([
          ['0', 'baseline'],
          ['1', 'keep'],
          ['2', 'discard'],
          ['3', 'keep'],
        ]);
        expectFileLike(scratch, id, tsv);
        expect(scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse')).toBe(
          `refs/pulse/discarded/${id}/2`,
        );
        expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
        expect(processesOf(scratch)).toEqual([]);
      },
    );

    it.each(drawFor(place, PARALLEL_POINTS, { of: 'parallel research', kind: stageOf }))(
      'research by two at once, killed at %s (%i)',
      async (where, count) => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startParallel(scratch);
        expect(await runner(scratch, id, { where, count })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, research, experiments } = await pulse.research.rows(id);
        expect(session).toMatchObject({
          status: 'complete',
          stop_reason: 'iteration_limit',
          total_commits: 2,
        });
        expect(experiments.map(({ status }) => status)).toEqual(['keep', 'keep', 'discard']);
        expect(research.best).toBe(80);
        const { branch_name: branch } = session;
        expect([scratch.git('show', `${branch}:src/a`), scratch.git('show', `${branch}:src/b`)]).toEqual([
          '50',
          '30',
        ]);
        expect(scratch.git('rev-list', '--count', `main..${branch}`)).toBe('2');
        expect(research.best_sha).toBe(scratch.git('rev-parse', branch));
        const keeps = readTsv(scratch).filter((row) => row[4] === 'keep');
        expect(keeps.map((row) => row[2])).toEqual(['90', '80'].slice(-keeps.length));
        expect(readTsv(scratch)).toHaveLength(4);
        expectFileLike(scratch, id, readTsv(scratch));
        // Beside what the other worker was in the middle of, under a recovery ref.
        const named = ['attempts', 'wip', 'discarded'].map((name) => `refs/pulse/${name}`);
        expect(scratch.git('for-each-ref', '--format=%(refname)', ...named)).toBe(
          `refs/pulse/discarded/${id}/3`,
        );
        expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
        expect(processesOf(scratch)).toEqual([]);
      },
    );
  });
}

/** The session's file says what the log says. */
function expectFileLike(scratch: Scratch, id: string, tsv: readonly string[][]): void {
  const file = JSON.parse(scratch.read(`.context/research-sessions/${id}.json`)) as {
    iterations: { iteration: number; status: string; metric: number | null }[];
  };
  expect(file).toMatchObject({ id, status: 'researching', metric: { baseline: 100, final: 80 } });
  const told = file.iterations.map(({ iteration, status, metric }) =>
    [iteration, status, metric ?? ''].join(),
  );
  expect(told).toEqual(tsv.map((row) => [row[0], row[4], row[2]].join()));
}

function readTsv(scratch: Scratch): string[][] {
  const text = scratch.read('autoresearch-results.tsv');
  return text
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) => line.split('\t'));
}

/** Kills the runner that asks it, the first time. Before there is anything to judge it is content. */
function judgeThatKills({ path }: Scratch): string {
  const kill = `if mkdir '${path}/killed' 2> /dev/null; then kill -9 "$(cat '${path}/runner.pid')"; sleep 60; fi`;
  return `if [ -f two ]; then echo judged >> '${path}/judged'; ${kill}; fi`;
}

interface WorkflowOptions {
  /** Of the third pulse. */
  instead?: string;
  /** More of the plan. */
  plan?: object;
}

async function startWorkflow(
  scratch: Scratch,
  ids: string[],
  { instead, plan }: WorkflowOptions = {},
): Promise<string> {
  await using pulse = await createPulse({ environment: scratch.environment });
  const script = instead ? PULSES.replace(/^three\).*$/m, instead) : PULSES;
  const pulses = ids.map((id) => ({ id, title: id, description: `Do ${id}.` }));
  const { session } = await pulse.workflow.start({
    plan: { title: 'Count', pulses, ...plan },
    path: scratch.repository,
    command: `sh '${scratch.file('agent.sh', script)}'`,
    createdBy: 'cli',
    actor: 'test',
    isApproved: true,
  });
  return session.id;
}

async function startParallel(scratch: Scratch): Promise<string> {
  commitSources(scratch, { a: '60\n', b: '40\n' });
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.research.start({
    content: {
      goal: 'Lower the cost',
      metric: {
        name: 'cost',
        direction: 'lower',
        verifyCommand: 'echo $(($(cat src/a) + $(cat src/b)))',
      },
      scope: { inScope: ['src/**'] },
    },
    iterations: 3,
    parallel: 2,
    path: scratch.repository,
    command: `sh '${scratch.file('agent.sh', TWO_AT_ONCE.replaceAll('FOLDER', join(scratch.path, 'begun')))}'`,
    createdBy: 'cli',
  });
  return session.id;
}

function commitSources(scratch: Scratch, files: Record<string, string>): void {
  mkdirSync(join(scratch.repository, 'src'));
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(scratch.repository, 'src', name), text);
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'chore: cost');
}

async function startResearch(scratch: Scratch): Promise<string> {
  commitSources(scratch, { cost: '100\n' });
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.research.start({
    content: {
      goal: 'Lower the cost',
      metric: {
        name: 'cost',
        direction: 'lower',
        verifyCommand: 'test "$(cat src/cost)" != broken && cat src/cost',
      },
      scope: { inScope: ['src/**'] },
    },
    iterations: 3,
    path: scratch.repository,
    command: `sh '${scratch.file('agent.sh', IDEAS)}'`,
    createdBy: 'cli',
  });
  return session.id;
}
