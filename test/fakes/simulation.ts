/** Whole sessions in one process, on a real in-memory store, with virtual time and processes that die or stall. */

import { isPulseError } from '../../src/domain/errors.ts';
import { createLeaseJudge } from '../../src/engine/attempt/lease-judge.ts';
import { DEFAULT_TIMING, type Engine } from '../../src/engine/engine.ts';
import type { LoopHost, LoopModule } from '../../src/engine/loops.ts';
import { requestPause, resumeSession } from '../../src/engine/runner/control.ts';
import { runSession } from '../../src/engine/runner/runner.ts';
import { readEvents } from '../../src/store/events.ts';
import { endedTasks, findTask, type Task } from '../../src/store/inbox.ts';
import { listIterations } from '../../src/store/iterations.ts';
import { insertNote, notesFor } from '../../src/store/notes.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { createPatientStore } from '../../src/store/patient.ts';
import { findSession, getSession, type NewSession } from '../../src/store/sessions.ts';
import type { Db, Store } from '../../src/store/store.ts';
import { admit } from './admit.ts';
import { admitSwarm, BEAD_MODULES, createFakeBeads, type SimulatedSwarm } from './bead-world.ts';
import { createFakeCommanders } from './commander-world.ts';
import { fakeLoops } from './loops.ts';
import { admitWorkflow, createFakePulses } from './pulse-world.ts';
import { createFakeReferee } from './referee.ts';
import { admitResearch, createFakeMeasurer } from './research-world.ts';
import { type Absence, createUnsteadyStore } from './unsteady-store.ts';
import { createVirtualTime } from './virtual-time.ts';
import {
  type AgentScript,
  attemptsOf,
  createFakeAgents,
  createFakeWorkspace,
  createWorld,
  type World,
} from './world.ts';

/**
 * A stalled process comes back after its successor has ended (`stall`), when that one's agent would work if nobody had
 * ended the stalled one (`nap`), right after its successor has taken the session (`startle`), or while its successor still
 * gives it time to speak up (`doze`).
 */
export type Fate = 'die' | 'stall' | 'nap' | 'startle' | 'doze';

export interface SimulationOptions {
  script: AgentScript;
  session?: Partial<NewSession>;
  /** How many sessions of research edit at once. */
  parallel?: number;
  /** The metric of research differs from reading to reading. */
  isNoisy?: boolean;
  /** A loop beside those of Pulse, and the rows that its session begins with. */
  other?: { module: LoopModule; admit(db: Db, sessionId: string): Promise<void> };
  /** The beads of a swarm, and who works on them. */
  swarm?: SimulatedSwarm;
  /** Research tells a commander elsewhere, too. */
  hasCommander?: boolean;
  /** Asked at every point a process passes, in order; `null` lets it go on. */
  fate(point: string, index: number): Fate | null;
  /** A ring that is lost or comes twice. */
  bell?: (sessionId: string) => 'ring' | 'lose' | 'double';
  /** A stalled process is on another host: it cannot be known dead nor ended, only its lease runs out. */
  isFleet?: boolean;
  onTick?: (jump: (ms: number) => void) => void;
  /** A person stops the session when this point is first passed. */
  pauseAt?: string;
  /** A person stops the session here, at the point with this index, and resumes it when it is paused. */
  stopsAt?(point: string, index: number): boolean;
  /** A person leaves a note when this point is first passed. */
  noteAt?: string;
  /** Whatever runs is killed at these times after the beginning. */
  killsAtMs?: readonly number[];
  /** The store goes away for a while, at one of the calls that reach it. */
  absence?: Absence;
  /** A second runner of the same session comes while the first is alive. */
  intruderAtMs?: number;
}

export interface Simulated {
  world: World;
  store: Store;
  sessionId: string;
  points: string[];
  /** Set when the session did not end by itself. */
  isStuck: boolean;
  processes: number;
  /** How often the store was called. */
  calls: number;
  /** How each runner ended. */
  ends: string[];
}

const MAX_STEPS = 20_000;
const NEVER = new AbortController().signal;
/**
 * A successor comes after 70 s and watches the session's lease for two heartbeats. It gives an attempt's holder on
 * another host two more, and one that lives on its own host four.
 */
const STALLS_MS = {
  host: { stall: 300_000, nap: 163_500, startle: 103_000, doze: 80_000 },
  fleet: { stall: 300_000, nap: 135_000, startle: 103_000, doze: 80_000 },
};

let simulations = 0;

export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const simulation = ++simulations;
  const time = createVirtualTime();
  const { other } = options;
  const modules = [...(other ? [other.module] : []), ...(options.swarm ? BEAD_MODULES : [])];
  const store = await openSqlite({ path: ':memory:', nowMs: time.nowMs, modules });
  const world = createWorld();
  const sessionId = await admit(store, options.session);
  if (other) await store.tx('admit', (db) => other.admit(db, sessionId));
  const others = other ? [await other.module.open({} as LoopHost)] : [];
  if (options.session?.kind === 'workflow') await admitWorkflow(store, sessionId);
  if (options.session?.kind === 'research') await admitResearch(store, sessionId, options);
  if (options.swarm) await admitSwarm(store, world, { sessionId, ...options.swarm });
  const points: string[] = [];
  const bells = new Map<object, () => void>();
  const alive = new Set<string>();
  let processes = 0;
  /** Agents of dead processes that their lifeline has yet to end. */
  let lifelines = 0;
  const ends: string[] = [];
  const unsteady = createUnsteadyStore(store, {
    absence: options.absence,
    elapsedMs: time.clock(() => false).elapsedMs,
  });
  let seed = 1;
  let isOver = false;

  function spawn(): void {
    // What a process holds is known to all of this one: no two simulated ones may have one name.
    const name = `${simulation}-p${++processes}`;
    let isDead = false;
    alive.add(name);
    const frozen = new Promise<never>(() => undefined);
    const host = options.isFleet ? name : 'host';
    const raw = time.clock(() => isDead);
    /** A stalled process does nothing at all: no heartbeat, no write, until it goes on. */
    let stalled: Promise<void> = Promise.resolve();
    const clock: Engine['clock'] = {
      nowMs: raw.nowMs,
      elapsedMs: raw.elapsedMs,
      async sleep(ms, signal) {
        await raw.sleep(ms, signal);
        await stalled;
        if (isDead) await frozen;
      },
    };

    async function gate(point: string): Promise<void> {
      await stalled;
      if (isDead) return frozen;
      const fate = options.fate(point, points.length);
      const isStopped = options.stopsAt?.(point, points.length) ?? false;
      points.push(point);
      if (isStopped) void stopNow().catch(ignoreEnded);
      if (point === options.pauseAt && points.indexOf(point) === points.length - 1) void stopNow();
      if (point === options.noteAt && points.indexOf(point) === points.length - 1) await leaveNote();
      if (fate === 'die') {
        isDead = true;
        alive.delete(name);
        restart(200);
        // On one host the successor's sweep has to find the agent; on another only the lifeline can end it.
        if (options.isFleet) {
          lifelines += 1;
          void outside.sleep(1_000).then(() => {
            endAgents(world, host);
            lifelines -= 1;
          });
        }
        return frozen;
      }
      if (fate !== null) {
        restart(70_000);
        stalled = raw.sleep(STALLS_MS[options.isFleet ? 'fleet' : 'host'][fate]);
        await stalled;
      }
      if (isDead) return frozen;
    }

    const alone = async <T>(work: () => Promise<T>): Promise<T> => {
      await stalled;
      if (isDead) return frozen;
      const result = await work();
      await stalled;
      return isDead ? frozen : result;
    };
    const access = { world, gate, host, sleep: clock.sleep, nowMs: time.nowMs, script: options.script };
    const ownStore = createPatientStore(
      {
        read: (work) => alone(() => unsteady.read(work)),
        tx: (label, work) => alone(() => unsteady.tx(label, work)),
        close: async () => undefined,
      },
      { sleep: clock.sleep, elapsedMs: clock.elapsedMs, stop: () => NEVER },
    );
    const ids = { nowMs: time.nowMs, randomBytes: (count: number) => bytes(count, seed++) };
    const referee = createFakeReferee(access);
    const loops = fakeLoops({
      others,
      goal: {
        compose: async ({ iteration }) => {
          const notes = await alone(() => store.read((db) => notesFor(db, sessionId, iteration)));
          const text = [`iteration ${iteration}`, ...notes.map((note) => note.text)].join('\n');
          return { ...brief(text), notes: notes.map(({ id }) => id) };
        },
      },
      workflow: {
        store: ownStore,
        ids,
        worktree: createFakePulses(access),
        composeKickoff: async ({ pulse }) => brief(`pulse ${pulse.planned_pulse_id}`),
      },
      research: {
        store: ownStore,
        measurer: createFakeMeasurer(access, options),
        files: { write: () => gate('files') },
        commanders: createFakeCommanders(access),
        compose: async ({ number }) => brief(`experiment ${number}`),
      },
      beads: createFakeBeads(access, { store: ownStore, ids, referee }),
    });
    const engine: Engine = {
      store: ownStore,
      workspace: createFakeWorkspace(access),
      referee,
      agents: createFakeAgents(access),
      bell: createSimBell(bells, { clock, fate: options.bell ?? (() => 'ring'), isDead: () => isDead }),
      clock,
      ids,
      trace: gate,
      loops,
      owner: name,
      host,
      maxAgents: 100,
      owners: (owner) =>
        alive.has(owner) ? (options.isFleet ? 'elsewhere' : 'alive') : options.isFleet ? 'elsewhere' : 'dead',
      async evict(owner) {
        alive.delete(owner);
        kills.get(owner)?.();
      },
      leases: createLeaseJudge({ clock, timing: DEFAULT_TIMING }),
      timing: DEFAULT_TIMING,
    };
    kills.set(name, () => {
      isDead = true;
    });
    void runSession(engine, sessionId, new AbortController().signal).then(
      (end) => {
        if (isDead) return;
        alive.delete(name);
        ends.push(end);
        if (end === 'held_elsewhere') restart(5_000);
        else if (options.stopsAt) void resumeWherePaused(loops);
        else isOver = true;
      },
      () => {
        if (isDead) return;
        alive.delete(name);
        restart(1_000);
      },
    );
  }

  async function leaveNote(): Promise<void> {
    const note = { id: 'note', session_id: sessionId, text: 'Mind the gap.', actor: 'test' };
    await store.tx('note', (db) => insertNote(db, note));
  }

  async function stopNow(): Promise<void> {
    await store.tx('pause', (db) => requestPause(db, sessionId, { request: 'stop', actor: 'test' }));
    for (const ring of bells.values()) ring();
  }

  async function resumeWherePaused(loops: Engine['loops']): Promise<void> {
    const { status, branch_name: branch } = await store.read((db) => getSession(db, sessionId));
    isOver = status !== 'paused';
    if (isOver) return;
    const branchHead = world.branches.get(branch) ?? null;
    const parts = { change: null, answerTurn: null, brief: null, branchHead, loops };
    await store.tx('resume', (db) => resumeSession(db, sessionId, { actor: 'test', ...parts }));
    restart(200);
  }

  const kills = new Map<string, () => void>();
  const outside = time.clock(() => false);
  function restart(ms: number): void {
    void outside.sleep(ms).then(() => {
      if (!isOver) spawn();
    });
  }

  spawn();
  for (const atMs of options.killsAtMs ?? []) {
    void outside.sleep(atMs).then(() => {
      for (const name of alive) kills.get(name)?.();
      alive.clear();
      restart(200);
    });
  }
  if (options.intruderAtMs !== undefined) void outside.sleep(options.intruderAtMs).then(spawn);
  let steps = 0;
  for (; steps < MAX_STEPS; steps++) {
    const isMoving = await time.step();
    options.onTick?.(time.jump);
    if (isOver && !isMoving) break;
    if (!isMoving) break;
    if (isOver && alive.size === 0 && lifelines === 0) break;
  }
  return { world, store, sessionId, points, isStuck: !isOver, processes, ends, calls: unsteady.calls() };
}

/** The person was too late. */
function ignoreEnded(error: unknown): void {
  if (!isPulseError(error, 'invalid_transition')) throw error;
}

function endAgents(world: World, host: string): void {
  for (const agent of world.agents) if (agent.worktree.startsWith(`${host}:`)) agent.isAlive = false;
}

/** Everything that must hold once a session of `count` iterations is over, whatever happened on the way. */
export async function violationsOf(
  { world, store, sessionId, isStuck }: Simulated,
  count: number,
  { isFleet = false, hasPerson = false } = {},
): Promise<string[]> {
  const found = [...world.violations];
  if (isStuck) found.push('the session never ended');
  const { session, iterations, events, tasks } = await store.read(async (db) => ({
    tasks: await tasksOf(db, sessionId),
    session: (await findSession(db, sessionId))!,
    iterations: await listIterations(db, sessionId),
    events: await readEvents(db, sessionId, { limit: 100_000 }),
  }));
  const check = (holds: boolean, what: string): void => {
    if (!holds) found.push(what);
  };
  const expected = Array.from({ length: count }, (_, index) => index + 1);
  check(
    session.status === 'complete',
    `status ${session.status} ${session.stop_reason} ${session.blocked_reason}`,
  );
  check(iterations.length === count, `${iterations.length} iterations instead of ${count}`);
  check(
    iterations.every((it) => it.status === 'complete'),
    'an iteration is not complete',
  );
  // What an attempt reported is what was settled: nobody who was replaced has written over it since.
  for (const { iteration_number: number, commit_hash: commit, inbox_task_id: id } of iterations) {
    const { result } = tasks.get(id!)!;
    check(result?.commit === commit, `iteration ${number} has ${commit}, its attempt says ${result?.commit}`);
  }
  const chain: number[] = [];
  let head = world.branches.get(session.branch_name) ?? '';
  while (head && head !== 'base') {
    const commit = world.commits.get(head)!;
    if (commit.session !== '') chain.unshift(commit.iteration);
    head = commit.parent ?? '';
  }
  check(JSON.stringify(chain) === JSON.stringify(expected), `commits of iterations ${chain}`);
  const tip = world.commits.get(world.branches.get(session.branch_name) ?? '');
  const content = tip?.content.replaceAll(/p\d+,/g, '');
  check(content === expected.map((n) => `${n},`).join(''), `content ${tip?.content}`);
  check(
    events.every((event, index) => event.seq === index + 1),
    'the events have a gap',
  );
  for (const number of expected) {
    const settled = events.filter(
      (event) => event.type === 'iteration.settled' && event.iteration === number,
    );
    check(settled.length === 1, `iteration ${number} settled ${settled.length} times`);
  }
  // The agents of these scripts never crash: whoever finds no worktree was given what lies elsewhere.
  check(
    !events.some(({ type, data }) => type === 'iteration.retried' && data.failureClass === 'crashed'),
    'an agent was taken for crashed',
  );
  // On one host the same work is never committed twice, not even in a commit that no branch reaches.
  check(isFleet || hasPerson || world.commits.size === count + 1, `${world.commits.size - 1} commits made`);
  check(session.total_commits === count, `total_commits ${session.total_commits}`);
  check(session.reserved_usd < 1e-9, `reserved ${session.reserved_usd}`);
  check(![...world.agents].some((agent) => agent.isAlive), 'an agent is still alive');
  // A replaced daemon of another host may publish after the end and die; `doctor --gc` must know its ref for garbage.
  const left = attemptsOf(world);
  check(isFleet || left.length === 0, 'an attempt ref is left');
  const ended = left.length === 0 ? [] : await store.read((db) => endedTasks(db, left));
  check(ended.length === left.length, 'an attempt ref is left that is not known to be garbage');
  return found;
}

async function tasksOf(db: Db, sessionId: string): Promise<Map<string, Task>> {
  const tasks = new Map<string, Task>();
  for (const { inbox_task_id: id } of await listIterations(db, sessionId)) {
    const task = id ? await findTask(db, id) : null;
    if (task) tasks.set(task.id, task);
  }
  return tasks;
}

function brief(text: string) {
  return {
    text,
    tokens: 1,
    anchor: { turnId: null, strategy: null, resolutionMs: 0, salience: null, depth: null, invalid: [] },
  };
}

function bytes(count: number, seed: number): Uint8Array {
  let state = seed * 2654435761;
  return Uint8Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) >>> 0;
    return state >>> 16;
  });
}

interface SimBellOptions {
  clock: Engine['clock'];
  fate(sessionId: string): 'ring' | 'lose' | 'double';
  isDead(): boolean;
}

function createSimBell(
  bells: Map<object, () => void>,
  { clock, fate, isDead }: SimBellOptions,
): Engine['bell'] {
  return {
    ring(sessionId) {
      const times = { ring: 1, lose: 0, double: 2 }[fate(sessionId)];
      for (let i = 0; i < times; i++) for (const ring of [...bells.values()]) ring();
    },
    listen() {
      const key = {};
      let isRung = false;
      let wake: AbortController | null = null;
      bells.set(key, () => {
        isRung = true;
        wake?.abort();
      });
      return {
        async wait(timeoutMs, signal) {
          if (!isRung && !isDead()) {
            wake = new AbortController();
            await clock.sleep(timeoutMs, signal ? AbortSignal.any([signal, wake.signal]) : wake.signal);
          }
          isRung = false;
        },
        [Symbol.dispose]: () => void bells.delete(key),
      };
    },
  };
}
