/**
 * A swarm in all kinds of trouble at once: its runner and its agents are killed, agents stall, lie, end without a word,
 * change the same file, and change files that do not go together. What must hold at its end is the same as without.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { writeOnboarding } from '../../src/loops/beads/files/onboarding.ts';
import { createPulse, type Pulse } from '../../src/pulse.ts';
import { createRandom } from '../fakes/random.ts';
import type { Scratch } from '../fakes/scratch.ts';
import { processesOf, runner } from './kill-suite.ts';

export interface Chaos {
  workers: number;
  beads: number;
  /** How often the runner is killed at a crash point, beside the kills by agents. */
  kills: number;
  seed: number;
}

interface PlannedBead {
  id: string;
  files: string[];
  verify: string;
  /** What its first runs do, one after the other; then it works. */
  troubles: string[];
  /** The bead whose agent it meets, so that both are at work at once. */
  meets?: string;
  dependencies: string[];
  priority: number;
}

const TROUBLES = ['none', 'lies', 'exits', 'dies', 'none', 'stalls', 'kills', 'none'];

function planBeads({ beads, seed }: Chaos): PlannedBead[] {
  const random = createRandom(seed);
  const planned: PlannedBead[] = [];
  for (let number = 0; planned.length < beads; number++) {
    const shape = number % 4;
    const hasRoom = planned.length + 2 <= beads;
    if (shape === 1 && hasRoom) planned.push(...planPair(`clash-${number}`, 'clash'));
    else if (shape === 3 && hasRoom) planned.push(...planPair(`red-${number}`, 'red'));
    else if (number % 8 === 2 && hasRoom) planned.push(...planPair(`spoil-${number}`, 'spoil'));
    else {
      const id = `b${number}`;
      const earlier = planned[Math.floor(random() * planned.length)];
      const trouble = TROUBLES[Math.floor(random() * TROUBLES.length)]!;
      planned.push({
        ...{ id, files: [`${id}.txt`], verify: `grep -qx ${id} ${id}.txt`, priority: 2 },
        troubles: trouble === 'none' ? [] : [trouble],
        dependencies: earlier && random() < 0.3 ? [earlier.id] : [],
      });
    }
  }
  return planned;
}

/**
 * Two beads that begin on the same commit: they change one file (`clash`), or what they make is good alone and bad
 * together, by what verifies both (`red`) or by what verifies the first alone (`spoil`).
 */
function planPair(name: string, kind: 'clash' | 'red' | 'spoil'): PlannedBead[] {
  const ids = [`${name}-a`, `${name}-b`];
  const oneAtMost = `test "$(cat ${name}-*.txt | grep -cx one)" -le 1`;
  return ids.map((id, index) => {
    const own = `test -s ${id}.txt`;
    const isJudge = kind === 'red' || index === 0;
    return {
      id,
      files: [kind === 'clash' ? `${name}.txt` : `${id}.txt`],
      verify: kind === 'clash' ? `grep -qx ${id} ${name}.txt` : isJudge ? `${own} && ${oneAtMost}` : own,
      troubles: [],
      meets: ids[1 - index]!,
      dependencies: [],
      priority: 1,
    };
  });
}

/** `$OUT/plan/<bead>` has a line a run that is in trouble; `$OUT/runs/<bead>` a line for each run so far. */
const AGENT = `brief=$(cat)
bead=$PULSE_UNIT
echo run >> "$OUT/runs/$bead"
count=$(wc -l < "$OUT/runs/$bead")
trouble=$(sed -n "\${count}p" "$OUT/plan/$bead")
meet() {
  touch "$OUT/at/$bead"
  for i in $(seq 100); do [ -f "$OUT/at/$1" ] && break; sleep 0.1; done
}
done_with() { pulse tool bead_done '{"summary":"write it"}' > "$OUT/reply-$bead.json"; }
case "$trouble" in
  lies) done_with; [ "$bead" = "\${bead#*5}" ] || exit 0 ;;
  exits) echo half > "$bead.txt"; exit 0 ;;
  dies) echo half > "$bead.txt"; kill -9 $$ ;;
  stalls) echo half > "$bead.txt"; sleep 600 ;;
  kills) echo half > "$bead.txt"; kill -9 "$(cat "$OUT/runner.pid")"; sleep 600 ;;
esac
case "$bead" in
  clash-*)
    # The files are given back too early: the other one may take them.
    [ $count = 1 ] && pulse tool release_file_reservations '{}' > "$OUT/release-$bead.json"
    [ $count = 1 ] && meet "$(cat "$OUT/meets/$bead")"
    [ $count = 1 ] || sleep 2
    echo "$bead" >> "\${bead%-?}.txt" ;;
  red-*|spoil-*)
    [ $count = 1 ] && meet "$(cat "$OUT/meets/$bead")"
    if [ $count = 1 ]; then echo one > "$bead.txt"; else echo two > "$bead.txt"; fi ;;
  *) echo "$bead" > "$bead.txt" ;;
esac
done_with
`;

async function startChaos(scratch: Scratch, beads: readonly PlannedBead[], chaos: Chaos): Promise<string> {
  const { repository: project_key, path } = scratch;
  for (const folder of ['plan', 'runs', 'at', 'meets']) mkdirSync(join(path, folder));
  scratch.file('runner.pid', '');
  for (const { id, troubles, meets = '' } of beads) {
    writeFileSync(join(path, 'plan', id), `${troubles.join('\n')}\n`);
    writeFileSync(join(path, 'meets', id), meets);
  }
  const found = { git: '2', worktrees: true, agents: [], sandbox: false };
  await writeOnboarding(project_key, { at: '2026-01-01T00:00:00.000Z', found });
  await using pulse = await createPulse({ environment: scratch.environment });
  await pulse.bead.create({ project_key, id: 'app', title: 'The app', type: 'epic', feature: 'app' });
  for (const { id, files, verify, dependencies, priority } of beads)
    await pulse.bead.create({
      ...{ project_key, id, title: `Write ${id}`, epic: 'app', files, dependencies, priority },
      verify: [{ command: verify }],
    });
  const command = `OUT='${path}' sh '${scratch.file('agent.sh', AGENT)}'`;
  const { session } = await pulse.swarm.start({
    ...{ path: project_key, epic: 'app', workers: chaos.workers, command, createdBy: 'cli' as const },
    idleTimeoutMs: 15_000,
  });
  return session.id;
}

/** Where the runner dies, beside in an agent's run. */
const POINTS = ['spawn', 'acknowledge', 'take_bead', 'dispatch', 'claim', 'prepare_worktree', 'run_agent']
  .concat([
    'record_run',
    'commit',
    'publish',
    'verify_merge',
    'report',
    'claim_landing',
    'land',
    'settle',
    'prove',
  ])
  .flatMap((name) => [`${name}:before`, `${name}:after`]);
/** Every bead passes these, so the first death comes for certain. */
const SURE = ['take_bead', 'dispatch', 'run_agent', 'settle'].flatMap((name) => [
  `${name}:before`,
  `${name}:after`,
]);

/** Returns how often the runner died. */
async function driveThrough(scratch: Scratch, id: string, { kills, seed, beads }: Chaos): Promise<number> {
  const random = createRandom(seed + 1);
  let deaths = 0;
  for (;;) {
    const points = deaths === 0 ? SURE : POINTS;
    const where = points[Math.floor(random() * points.length)]!;
    const count = 1 + Math.floor(random() * (deaths === 0 ? Math.min(20, beads) : 20));
    const end = await runner(scratch, id, deaths < kills ? { where, count } : undefined);
    if (end !== 'SIGKILL') {
      expect(end).toBe(0);
      return deaths;
    }
    deaths += 1;
    expect(deaths, 'the runner is killed without an end').toBeLessThan(1_000);
  }
}

export async function surviveChaos(scratch: Scratch, chaos: Chaos): Promise<void> {
  const beads = planBeads(chaos);
  const id = await startChaos(scratch, beads, chaos);
  const deaths = await driveThrough(scratch, id, chaos);
  expect(deaths).toBeGreaterThanOrEqual(Math.min(chaos.kills, 1));
  await using pulse = await createPulse({ environment: scratch.environment });
  await expectWhole(scratch, pulse, { id, beads });
  await expectGreenAtEveryMerge(scratch, pulse, { id, beads });
  await expectTrouble(pulse, { id, beads });
  expect(processesOf(scratch)).toEqual([]);
}

interface Survivor {
  id: string;
  beads: readonly PlannedBead[];
}

/** Every bead is closed once, by one commit with one parent, and with evidence of its own. */
async function expectWhole(scratch: Scratch, pulse: Pulse, { id, beads }: Survivor): Promise<void> {
  const { session, beads: found } = await pulse.swarm.show(id);
  expect(session, session.blocked_reason ?? '').toMatchObject({
    status: 'complete',
    stop_reason: 'completed',
    total_commits: beads.length,
  });
  expect(found.filter(({ status }) => status !== 'closed')).toEqual([]);
  const { branch_name: branch, base_sha: base } = session;
  const log = scratch.git('log', '--format=%H %P%x09%s', `${base}..${branch}`).split('\n');
  const expected = beads.map((bead) => `feat(${bead.id}): write it`).toSorted();
  expect(log.map((line) => line.split('\t')[1]).toSorted()).toEqual(expected);
  expect(log.filter((line) => line.split('\t')[0]!.split(' ').length !== 2)).toEqual([]);
  const commits = new Map(log.map((line) => [line.split(' ')[0], line.split('\t')[1]]));
  for (const { id: bead, commit } of found) {
    expect(commits.get(commit!), bead).toBe(`feat(${bead}): write it`);
    const names = scratch.git('diff-tree', '--no-commit-id', '--name-only', '-r', commit!).split('\n');
    const { files } = beads.find((one) => one.id === bead)!;
    expect(names.toSorted()).toEqual([...files, `history/app/verification/${bead}.md`].toSorted());
    const evidence = scratch.git('show', `${commit}:history/app/verification/${bead}.md`);
    expect(evidence).toMatch(/^- Result: passed$/m);
  }
  const { events } = await pulse.export(id);
  const closed = events.filter(({ type }) => type === 'bead.closed').map(({ data }) => data.bead);
  expect(closed.toSorted()).toEqual(beads.map((bead) => bead.id).toSorted());
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const { reservations } = await pulse.reservations.list({ project_key: scratch.repository });
  expect(reservations).toEqual([]);
  expect(scratch.git('for-each-ref', 'refs/pulse/attempts', 'refs/pulse/wip')).toBe('');
  expect(scratch.git('worktree', 'list').split('\n')).toHaveLength(1);
}

/** On the commit of each bead the verify commands of all beads hold that were merged up to there. */
async function expectGreenAtEveryMerge(
  scratch: Scratch,
  pulse: Pulse,
  { id, beads }: Survivor,
): Promise<void> {
  const { base_sha: base, branch_name: branch } = await pulse.session(id);
  const log = scratch.git('log', '--reverse', '--format=%H %s', `${base}..${branch}`).split('\n');
  const order = log.map((line) => ({ commit: line.slice(0, 40), bead: /\((.+)\)/.exec(line)![1]! }));
  const steps = order.map(({ commit }, index) => {
    const merged = order.slice(0, index + 1).map(({ bead }) => beads.find((one) => one.id === bead)!);
    const checks = merged.map(
      ({ id: bead, verify }) => `{ ${verify}; } || echo "${bead} is red at ${commit}"`,
    );
    return `git checkout -q ${commit}\n${checks.join('\n')}`;
  });
  scratch.git('worktree', 'add', '-q', '--detach', join(scratch.path, 'green'), base);
  const script = scratch.file('green.sh', `cd "$1" || exit 1\n${steps.join('\n')}\n`);
  const { execFileSync } = await import('node:child_process');
  const red = execFileSync('sh', [script, join(scratch.path, 'green')], { encoding: 'utf8' });
  expect(red).toBe('');
  scratch.git('worktree', 'remove', '--force', join(scratch.path, 'green'));
}

/** The trouble that was planned has come. Whether two beads meet depends on the machine: of many some do. */
async function expectTrouble(pulse: Pulse, { id, beads }: Survivor): Promise<void> {
  if (beads.length < MANY) return;
  const { workers } = await pulse.swarm.show(id);
  const told: string[] = [];
  for (const sessionId of [id, ...workers.map((worker) => worker.sessionId)])
    for (const { type, data } of (await pulse.export(sessionId)).events)
      told.push(`${type} ${JSON.stringify(data)}`);
  const has = (pattern: RegExp): boolean => told.some((text) => pattern.test(text));
  expect(has(/^bead\.rejected /), 'one lies').toBe(true);
  expect(has(/timeout_idle/), 'one stalls').toBe(true);
  expect(has(/^iteration\.retried /), 'one dies').toBe(true);
  expect(has(/^bead\.merging .*"beads":\["[^"]+","[^"]+"/), 'several are merged at once').toBe(true);
  expect(has(/^bead\.returned .*does not fit on what was merged/), 'two clash').toBe(true);
  expect(has(/^bead\.returned .*is red on what was merged/), 'a merge is red').toBe(true);
}

const MANY = 100;
