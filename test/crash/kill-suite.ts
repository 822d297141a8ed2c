/** Real processes, real git, real SIGKILL: at every crash point, at every git process, and while the agent runs. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CRASH_SIDES, type CrashPoint, crashPoints } from '../../src/engine/actions.ts';
import { createPulse } from '../../src/pulse.ts';
import { bundlePackage } from '../fakes/bundled-package.ts';
import { createScratch, type Scratch } from '../fakes/scratch.ts';
import { draw, IS_MORE, IS_WHOLE } from '../lanes/lane.ts';

const FIXTURE = (await bundlePackage())('test/crash/fixtures/runner.ts');
const ITERATIONS = 3;

/** Appends its number once, notes every run, and says so if another agent (not just its zombie) is alive in the same worktree. */
const AGENT = `
if [ -f "$NOTES/pid" ] && tr '\\0' ' ' < "/proc/$(cat "$NOTES/pid")/cmdline" 2>/dev/null | grep -q agent.sh; then
  echo two >> "$NOTES/violations"
fi
echo $$ > "$NOTES/pid"
echo "$PULSE_ITERATION" >> "$NOTES/runs"
echo partial > partial.txt
setsid sleep 60 &
sleep 0.1
rm partial.txt
echo "$PULSE_ITERATION" >> log.txt
[ "$PULSE_ITERATION" = 3 ] && echo "# says the same" >> check.sh
rm "$NOTES/pid"
if [ "$PULSE_ITERATION" -ge 2 ]; then echo "Done. <signal>COMPLETE</signal>"; else echo "More. <signal>CONTINUE</signal>"; fi
`;

/** Notes that it was asked, and that it has answered. */
const REVIEW = `
echo asked >> "$NOTES/reviews"
pulse tool review_verdict '{"accept":true,"claims":[{"text":"it counts","verdict":"true"}]}' > /dev/null
`;

/** Fails at the second iteration, passes at the third: there the agent has touched it, so that the old one is asked too. */
const VERIFY = 'sh check.sh';
const CHECK = `test "$(wc -l < log.txt)" -ge ${ITERATIONS}\n`;

/**
 * Passed in a goal that goes well; the others come with trouble of their own, below, in other loops (kill-loops.ts), at
 * review (kill-review.ts), after the end (kill-after.test.ts), or where an agent is asked or a person commits
 * (kill-interventions.ts).
 */
const ELSEWHERE = /^(nudge|put_on_top|adopt_branch|retry|requeue|interrupt|end|spawn|discard):/;
const ORDINARY = crashPoints([]).filter((point) => !ELSEWHERE.test(point));
const GIT = ['worktree', 'add', 'write-tree', 'diff-tree', 'update-ref', 'status', 'read-tree', 'clean'];

interface Case {
  where: string;
  count: number;
}
const cases: Case[] = [
  ...ORDINARY.map((where) => ({ where, count: where.startsWith('verify') ? 1 : 2 })),
  ...ORDINARY.filter((where) => /^(prepare_worktree|run_agent|commit|settle):after/.test(where)).map(
    (where) => ({ where, count: 1 }),
  ),
  ...GIT.map((command) => ({ where: `git ${command}`, count: 1 })),
  // Those that stay are asked again and again: for the first commit and the second, and between its two steps.
  ...[2, 3].map((count) => ({ where: 'git diff-tree', count })),
  ...[2, 3, 4, 5, 6].map((count) => ({ where: 'git update-ref', count })),
  { where: 'agent running', count: 450 },
  { where: 'agent running', count: 700 },
];
const ONCE = /^(start|read_base|replay|second_opinion|prove|close_worktree|pack):/;
for (const one of cases) if (ONCE.test(one.where)) one.count = 1;

/** Which cases a sample takes: one each of a third of the kinds, or a few on a second store, where transactions alone differ. */
export interface StoreOfSuite {
  store: string;
  isSecond?: boolean;
  /** Gives each case an environment with a fresh store. */
  prepare(scratch: Scratch): Promise<void>;
}

export function drawFor<T>(
  { store, isSecond }: StoreOfSuite,
  cases: readonly T[],
  { of, kind }: { of: string; kind(one: NoInfer<T>): string },
): T[] {
  return draw(cases, {
    of: `${of} on ${store}`,
    ...(isSecond ? { share: 0.05, restShare: 1 / 3 } : { kind, kindShare: 1 / 3 }),
  });
}

/** Whether a test without cases is done here: on a second store it belongs to the rest. */
export function isHere({ isSecond = false }: StoreOfSuite): boolean {
  return isSecond ? IS_MORE : IS_WHOLE;
}

/** The whole suite on one store. */
export function killSuite(place: StoreOfSuite): void {
  const { store, prepare } = place;
  describe(`a runner on ${store} that is killed`, () => {
    it.each(drawFor(place, cases, { of: 'a goal', kind: actionOf }))(
      'at $where ($count) leaves a session that the next one completes',
      { timeout: 60_000 },
      async (one) => {
        using scratch = createScratch();
        await prepare(scratch);
        const sessionId = await admit(scratch);
        const killed = await runner(scratch, sessionId, one);
        expect(killed === 'SIGKILL' || one.where === 'agent running').toBe(true);
        const again = await runner(scratch, sessionId);
        expect(again).toBe(0);
        await expectSound(scratch, sessionId);
      },
    );

    it.each(drawFor(place, TROUBLED, { of: 'a goal in trouble', kind: actionOf }))(
      'at $where, in trouble already, leaves a session that ends well',
      { timeout: 60_000 },
      async (one) => {
        using scratch = createScratch();
        await prepare(scratch);
        const sessionId = await admit(scratch, one.agent ?? AGENT);
        await one.before?.(scratch, sessionId);
        expect(await runner(scratch, sessionId, { where: one.where, count: 1 })).toBe('SIGKILL');
        expect(await runner(scratch, sessionId)).toBe(0);
        if (one.isPaused) await resumePaused(scratch, sessionId);
        await expectSound(scratch, sessionId);
      },
    );
  });
}

/** Both sides of an action, and one that is passed again, are of one kind; so are the git processes. */
export function actionOf({ where }: { where: string }): string {
  return where.replace(/:(before|after)$|(?<=^git) .*/, '');
}

/** What leads to the points that a session which goes well never passes. */
interface Trouble {
  where: CrashPoint;
  agent?: string;
  before?(scratch: Scratch, sessionId: string): Promise<void>;
  /** A person stops it on the way, and goes on afterwards. */
  isPaused?: boolean;
}

const CRASHING = `if [ "$PULSE_ITERATION.$PULSE_ATTEMPT" = 2.1 ]; then exit 7; fi\n${AGENT}`;

/** Is at work whenever it is stopped. */
const LINGERING = AGENT.replace(
  'sleep 0.1\n',
  'if [ "$PULSE_ITERATION.$PULSE_ATTEMPT" = 1.1 ]; then touch "$NOTES/at-work"; sleep 20; fi\nsleep 0.1\n',
);

const TROUBLED: Trouble[] = CRASH_SIDES.flatMap((side): Trouble[] => [
  { where: `retry:${side}`, agent: CRASHING },
  {
    where: `requeue:${side}`,
    before: async (scratch, sessionId) => {
      expect(await runner(scratch, sessionId, { where: 'run_agent:after', count: 2 })).toBe('SIGKILL');
    },
  },
  {
    where: `end:${side}`,
    isPaused: true,
    before: async (scratch, sessionId) => {
      await using pulse = await createPulse({ environment: scratch.environment });
      await pulse.pause(sessionId, { actor: 'test' });
    },
  },
  { where: `interrupt:${side}`, agent: LINGERING, isPaused: true },
]);

async function resumePaused(scratch: Scratch, sessionId: string): Promise<void> {
  {
    await using pulse = await createPulse({ environment: scratch.environment });
    expect((await pulse.show(sessionId)).session.status).toBe('paused');
    await pulse.resume(sessionId, { actor: 'test' });
  }
  expect(await runner(scratch, sessionId)).toBe(0);
}

async function admit(scratch: Scratch, script = AGENT): Promise<string> {
  const agent = scratch.file('agent.sh', script);
  scratch.environment.XDG_CONFIG_HOME = join(scratch.path, 'config');
  mkdirSync(join(scratch.path, 'config/pulse'), { recursive: true });
  const command = `NOTES='${scratch.path}' sh '${scratch.file('review.sh', REVIEW)}'`;
  scratch.file('config/pulse/config.yaml', JSON.stringify({ review: { agent: 'command', command } }));
  writeFileSync(join(scratch.repository, 'check.sh'), CHECK);
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'a check');
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session } = await pulse.start({
    goal: 'Count',
    path: scratch.repository,
    command: `NOTES='${scratch.path}' sh '${agent}'`,
    verify: [VERIFY],
    createdBy: 'cli',
  });
  return session.id;
}

export function runner(scratch: Scratch, sessionId: string, one?: Case): Promise<number | string | null> {
  const args = [FIXTURE, sessionId, ...(one ? [one.where, String(one.count)] : [])];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    env: scratch.environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
}

async function expectSound(scratch: Scratch, sessionId: string): Promise<void> {
  await using pulse = await createPulse({ environment: scratch.environment });
  const { session, iterations } = await pulse.show(sessionId);
  expect(session).toMatchObject({ status: 'complete', stop_reason: 'completed', total_commits: ITERATIONS });
  const log = scratch.git(
    'log',
    '--reverse',
    '--format=%(trailers:key=Pulse-Iteration,valueonly)',
    `main..${session.branch_name}`,
  );
  expect(log.split(/\s+/).filter(Boolean)).toEqual(['1', '2', '3']);
  expect(scratch.git('show', `${session.branch_name}:log.txt`).split('\n')).toEqual(['1', '2', '3']);
  expect(scratch.git('ls-tree', '--name-only', session.branch_name)).toBe('README.md\ncheck.sh\nlog.txt');
  expect(iterations.map((it) => [it.iteration_number, it.outcome])).toEqual([
    [1, 'continued'],
    [2, 'rejected'],
    [3, 'completed'],
  ]);
  const { events } = await pulse.export(sessionId);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter((event) => event.type === 'iteration.reviewed')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'iteration.settled')).toHaveLength(ITERATIONS);
  expect(scratch.git('for-each-ref', 'refs/pulse/attempts')).toBe('');
  expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
  expect(scratch.git('status', '--porcelain')).toBe('');
  const commit = scratch.git('rev-parse', session.branch_name);
  const proofs = scratch.git('ls-tree', '-r', '--name-only', 'refs/attestations/commits').split('\n');
  expect(proofs).toEqual([expect.stringMatching(`^${commit}/pulse-`)]);
  expect((await pulse.showChecks(sessionId)).judgement).toMatchObject({ replay: { passed: true } });
  expect(readdirSync(pulse.home.rooms)).toEqual([]);
  expect(readdirSync(scratch.path)).not.toContain('violations');
  expect(processesOf(scratch)).toEqual([]);
}

/** Whoever still carries this scratch folder in its command line or its folder. */
export function processesOf(scratch: Scratch): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
      return environment.includes(scratch.path) && environment.includes('PULSE_RUN_ID=');
    } catch {
      return false;
    }
  });
}
