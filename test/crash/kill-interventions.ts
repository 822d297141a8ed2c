/** Real SIGKILL where a run is asked for its signal, and where a person's commit on the branch comes first. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CRASH_SIDES, type CrashPoint } from '../../src/engine/actions.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { drawFor, processesOf, runner, type StoreOfSuite } from './kill-suite.ts';

/** What of the goal's work meets the person's commit: nothing; a check that was passed; the same lines. */
const MEETINGS = ['beside it', 'verified', 'in conflict'] as const;
type MeetingKind = (typeof MEETINGS)[number];

const ON_TOP = MEETINGS.flatMap((kind) => [
  ...CRASH_SIDES.map((side) => ({ kind, where: `put_on_top:${side}` as string })),
  { kind, where: 'git merge-tree' },
]);
const ADOPTED: CrashPoint[] = CRASH_SIDES.map((side) => `adopt_branch:${side}` as const);
/** `judging`: killed while it is asked, by the one that is asked. */
const ASKED = ['nudge:before', 'nudge:after', 'judging'] as const;

export function killInterventions(place: StoreOfSuite): void {
  const { store, prepare } = place;
  describe(`on ${store}`, () => {
    it.each(drawFor(place, ON_TOP, { of: 'put on top', kind: ({ kind }) => kind }))(
      'a goal whose work is put on top of a person’s commit, $kind, killed at $where, has both, once',
      { timeout: 60_000 },
      async ({ kind, where }) => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startGoal(scratch, kind);
        expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, iterations } = await pulse.show(id);
        expect(session).toMatchObject({ status: 'complete', total_commits: 2, branch_lags_at: null });
        expect(subjectsOf(scratch, session)).toEqual([
          'theirs',
          'pulse: iteration 1: Step 1.',
          'pulse: iteration 2: Done.',
        ]);
        expect(scratch.git('show', `${session.branch_name}:shared.txt`)).toBe('theirs');
        // In conflict the agent does its first iteration again; otherwise nothing is done again.
        const again = kind === 'in conflict';
        expect(linesOf(scratch, 'runs')).toEqual(again ? ['1', '1', '2'] : ['1', '2']);
        expect(iterations[0]!.start_sha).toBe(linesOf(scratch, 'theirs')[0]);
        const recovery = scratch.git('for-each-ref', '--format=%(refname)', 'refs/pulse/recovery');
        expect(recovery).toBe(again ? `refs/pulse/recovery/${id}/1.1` : '');
        await expectSound(scratch, pulse, { id, settled: 2 });
      },
    );

    it.each(drawFor(place, ADOPTED, { of: 'an adopted branch', kind: (where) => where }))(
      'a workflow whose branch a person has moved, killed at %s, does its pulse again on top',
      { timeout: 60_000 },
      async (where) => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startWorkflow(scratch);
        expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, pulses } = await pulse.workflow.rows(id);
        expect(session).toMatchObject({ stop_reason: 'approval_required', total_commits: 1 });
        expect(pulses.at(-1)).toMatchObject({ status: 'succeeded' });
        expect(subjectsOf(scratch, session)).toEqual(['theirs', 'feat: one']);
        await expectSound(scratch, pulse, { id });
      },
    );

    it.each(drawFor(place, ADOPTED, { of: 'an adopted best', kind: (where) => where }))(
      'research whose branch a person has moved, killed at %s, reads it first and builds on it',
      { timeout: 60_000 },
      async (where) => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startResearch(scratch);
        expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, research, experiments } = await pulse.research.rows(id);
        expect(session).toMatchObject({ status: 'complete', stop_reason: 'iteration_limit' });
        expect(experiments.at(-1)).toMatchObject({ status: 'keep', metric: 95, delta: -10 });
        expect(subjectsOf(scratch, session)).toEqual(['theirs', 'experiment: Cheaper.']);
        expect(research.best_sha).toBe(scratch.git('rev-parse', session.branch_name));
        expect(scratch.git('for-each-ref', 'refs/pulse/wip')).toBe('');
        await expectSound(scratch, pulse, { id });
      },
    );

    it.each(drawFor(place, ASKED, { of: 'asked for the signal', kind: (where) => where }))(
      'a run that forgot its signal, killed at %s, is asked once and never done again',
      { timeout: 60_000 },
      async (where) => {
        using scratch = createScratch();
        await prepare(scratch);
        const id = await startForgetful(scratch);
        expect(await runner(scratch, id, { where, count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, id)).toBe(0);
        await using pulse = await createPulse({ environment: scratch.environment });
        const { session, iterations } = await pulse.show(id);
        // Killed while it was asked, it has said nothing: a person is asked.
        const isAnswered = where !== 'judging';
        expect(session).toMatchObject(
          isAnswered
            ? { status: 'complete', stop_reason: 'completed' }
            : { status: 'blocked', stop_reason: 'no_signal' },
        );
        expect(session.spent_usd).toBeCloseTo(isAnswered ? 0.12 : 0.1);
        expect(iterations).toMatchObject([{ iteration_number: 1, attempt: 1 }]);
        expect(linesOf(scratch, 'calls')).toEqual(['run', 'asked']);
        expect(scratch.git('show', `${session.branch_name}:work`)).toBe('done');
        expect(scratch.git('ls-tree', '--name-only', session.branch_name)).not.toContain('scribble');
        if (!isAnswered) expect(existsSync(join(session.worktree_path, 'scribble'))).toBe(false);
        const { events } = await pulse.export(id);
        expect(events.filter(({ type }) => type === 'iteration.nudged')).toHaveLength(1);
        await expectSound(scratch, pulse, { id, settled: 1, worktrees: isAnswered ? 1 : 2 });
      },
    );
  });
}

function linesOf(scratch: Scratch, name: string): string[] {
  return readFileSync(join(scratch.path, name), 'utf8').trim().split('\n');
}

function subjectsOf(scratch: Scratch, { branch_name: branch }: { branch_name: string }): string[] {
  return scratch.git('log', '--reverse', '--format=%s', `main..${branch}`).split('\n');
}

async function expectSound(
  scratch: Scratch,
  pulse: Pulse,
  { id, settled, worktrees = 1 }: { id: string; settled?: number; worktrees?: number },
): Promise<void> {
  const { session } = await pulse.show(id);
  const { events } = await pulse.export(id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const of = (type: string) => events.filter((event) => event.type === type);
  if (settled !== undefined) expect(of('iteration.settled')).toHaveLength(settled);
  expect(of('branch.adopted').length).toBeLessThanOrEqual(2);
  expect(scratch.git('for-each-ref', 'refs/pulse/attempts')).toBe('');
  const isOpen = worktrees > 1 || session.status === 'blocked';
  expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(isOpen ? 2 : 1);
  expect(scratch.git('status', '--porcelain')).toBe('');
  expect(processesOf(scratch)).toEqual([]);
}

/** A shell line that commits `file` on the session's branch as a person would, from elsewhere; only the first time. */
function commitAsPerson({ path, repository }: Scratch, file: string): string {
  const script = `
mkdir '${path}/person' 2> /dev/null || exit 0
unset GIT_DIR GIT_WORK_TREE
export GIT_INDEX_FILE='${path}/person/index'
cd '${repository}'
branch=$(git for-each-ref --format='%(refname)' refs/heads/pulse | grep -v -e --)
git read-tree "$branch"
blob=$(echo theirs | git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$blob,${file}"
made=$(git -c user.name=Ada -c user.email=ada@example.org commit-tree "$(git write-tree)" -p "$branch" -m theirs)
git update-ref "$branch" "$made"
echo "$made" > '${path}/theirs'
`;
  const name = join(path, 'person.sh');
  writeFileSync(name, script);
  return `sh '${name}'`;
}

async function startGoal(scratch: Scratch, kind: MeetingKind): Promise<string> {
  const own = kind === 'in conflict' ? 'shared.txt' : 'log.txt';
  // Whoever finds the person's lines leaves them alone.
  const agent = `cat > /dev/null
echo "$PULSE_ITERATION" >> '${scratch.path}/runs'
[ "$(cat shared.txt 2> /dev/null)" = theirs ] && echo "$PULSE_ITERATION" >> log.txt || echo "$PULSE_ITERATION" >> ${own}
${commitAsPerson(scratch, 'shared.txt')}
if [ "$PULSE_ITERATION" = 2 ]; then echo Done.; echo '<signal>COMPLETE</signal>'; exit; fi
echo 'Step 1.'; echo '<signal>${kind === 'verified' ? 'COMPLETE' : 'CONTINUE'}</signal>'`;
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.start({
    goal: 'Count',
    path: scratch.repository,
    command: `sh '${scratch.file('agent.sh', agent)}'`,
    // The first claim holds by itself and fails on top of what the person has committed.
    verify: kind === 'verified' ? ['! test -e shared.txt || test "$(wc -l < log.txt)" -ge 2'] : [],
    createdBy: 'cli',
  });
  return session.id;
}

async function startWorkflow(scratch: Scratch): Promise<string> {
  const agent = `cat > /dev/null
echo 1 > one
${commitAsPerson(scratch, 'shared.txt')}
pulse tool pulse_done '{"summary":"feat: one","filesChanged":["one"]}' > /dev/null`;
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.workflow.start({
    plan: { title: 'Count', pulses: [{ id: 'one', title: 'one', description: 'Do one.' }] },
    path: scratch.repository,
    command: `sh '${scratch.file('agent.sh', agent)}'`,
    createdBy: 'cli',
    actor: 'test',
    isApproved: true,
  });
  return session.id;
}

/** What the person commits makes it dearer: a change is to be measured against that. */
const COST = 'test ! -e shared.txt && cat src/cost || echo $(($(cat src/cost) + 5))';

async function startResearch(scratch: Scratch): Promise<string> {
  mkdirSync(join(scratch.repository, 'src'));
  writeFileSync(join(scratch.repository, 'src/cost'), '100\n');
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'chore: cost');
  const agent = `cat > /dev/null
echo Cheaper.
echo 90 > src/cost
${commitAsPerson(scratch, 'shared.txt')}`;
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.research.start({
    content: {
      goal: 'Lower the cost',
      metric: { name: 'cost', direction: 'lower', verifyCommand: COST },
      scope: { inScope: ['src/**'] },
    },
    iterations: 1,
    path: scratch.repository,
    command: `sh '${scratch.file('agent.sh', agent)}'`,
    createdBy: 'cli',
  });
  return session.id;
}

/** Speaks as claude does. Asked in its own session it answers, unless the runner is to be killed by then. */
async function startForgetful(scratch: Scratch): Promise<string> {
  const line = (value: object): string => `printf '%s\\n' '${JSON.stringify(value)}'`;
  const result = (text: string, cost: number, tokens: number): string =>
    line({
      ...{ type: 'result', subtype: 'success', is_error: false, result: text, session_id: 'own' },
      total_cost_usd: cost,
      usage: { input_tokens: tokens, output_tokens: tokens },
    });
  const pid = `${scratch.path}/runner.pid`;
  scratch.environment.PULSE_AGENT_CLAUDE_BIN = scratch.file(
    'claude',
    `#!/bin/sh
cat > /dev/null
${line({ type: 'system', subtype: 'init', session_id: 'own', model: 'x', tools: [] })}
case "$*" in
*--resume*)
  echo asked >> '${scratch.path}/calls'; echo scribble > scribble
  if [ -f '${pid}' ]; then kill -9 "$(cat '${pid}')"; sleep 60; fi
  ${result('Done.\n<signal>COMPLETE</signal>', 0.02, 1)} ;;
*) echo run >> '${scratch.path}/calls'; echo done > work; ${result('All of it is there.', 0.1, 10)} ;;
esac
`,
  );
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.start({
    ...{ goal: 'Work', path: scratch.repository, agent: 'claude', createdBy: 'cli' },
  });
  return session.id;
}
