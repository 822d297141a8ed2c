/** A small model of git, worktrees and processes: enough to tell whether work was lost, doubled or mixed up. */
import type { RunReport } from '../../src/domain/attempt.ts';
import { PulseError } from '../../src/domain/errors.ts';
import type { AgentHost, HeldAttempt, UnitCommit, Workspace } from '../../src/engine/ports.ts';
import type { HeadMoved } from '../../src/git/session-head.ts';
import type { CommanderCall } from '../../src/loops/research/commander/deliver.ts';
import type { Session } from '../../src/store/sessions.ts';

export interface Commit {
  sha: string;
  parent: string | null;
  content: string;
  session: string;
  iteration: number;
}

interface Worktree {
  head: string;
  content: string;
}

export interface RunningAgent {
  runId: string;
  worktree: string;
  isAlive: boolean;
}

export interface World {
  commits: Map<string, Commit>;
  branches: Map<string, string>;
  /** Where each session's work stands. */
  heads: Map<string, string>;
  /** A person's commits that do not go with what the agent does. */
  conflicts: Set<string>;
  refs: Map<string, string>;
  worktrees: Map<string, Worktree>;
  agents: Set<RunningAgent>;
  /** Who was in the room of a session last, by host. */
  rooms: Map<string, { runId: string; isAlive: boolean }>;
  /** The commits that were proven, doubles too. */
  proofs: string[];
  /** The claims that another agent has judged. */
  opinions: Set<string>;
  /** What must never be seen. */
  violations: string[];
  /** Iterations whose agent ran to its end, in order. */
  finishedRuns: number[];
  /** Iterations whose agent was asked for its signal, in order. */
  nudges: number[];
  /** Of each bead: how often an agent came to its end with it. */
  beadRuns: Map<string, number>;
  /** Whether what a bead adds does not fit on what others have merged. */
  clashes: (onto: string, added: string) => boolean;
  /** Whether a bead's checks fail there. Its agent sees that, and does it otherwise. */
  isRed: (content: string) => boolean;
  /** What the commander elsewhere was told, in order, doubles too. */
  commander: CommanderCall[];
}

const BASE = 'base';

export function createWorld(): World {
  const base: Commit = { sha: BASE, parent: null, content: '', session: '', iteration: 0 };
  return {
    commits: new Map([[BASE, base]]),
    branches: new Map(),
    heads: new Map(),
    conflicts: new Set(),
    refs: new Map(),
    worktrees: new Map(),
    agents: new Set(),
    rooms: new Map(),
    proofs: [],
    opinions: new Set(),
    violations: [],
    finishedRuns: [],
    nudges: [],
    beadRuns: new Map(),
    clashes: () => false,
    isRed: () => false,
    commander: [],
  };
}

/** What a simulated process does between two effects: it may die here, or stall. */
export type Gate = (point: string) => Promise<void>;

export interface WorldAccess {
  world: World;
  gate: Gate;
  /** Worktrees are per host. */
  host: string;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  nowMs(): number;
  script: AgentScript;
}

/** What the scripted agent does in an iteration. */
export type AgentScript = (
  iteration: number,
  attempt: number,
  unit?: string | null,
  /** Since the simulation began. */
  elapsedMs?: number,
) => Partial<RunReport> & {
  verifies?: boolean;
  /** It changed the checks: the old ones hold all the same, they do not, or it says that they cannot. */
  oldChecks?: 'hold' | 'fail' | 'declared';
  /** What another agent says of the claim. */
  opinion?: 'accept' | 'refuse';
  person?: 'commits' | 'conflicts';
};

export function createFakeWorkspace({ world, gate, host }: WorldAccess): Workspace {
  const at = (attempt: HeldAttempt) => `${host}:${attempt.spec.worktreePath}`;
  return {
    async createBranch(session) {
      await gate('branch');
      if (!world.branches.has(session.branch_name)) world.branches.set(session.branch_name, session.base_sha);
      if (!world.heads.has(session.id)) world.heads.set(session.id, session.base_sha);
    },
    async readRef(_, ref) {
      return world.refs.get(ref.replace('refs/pulse/', '')) ?? null;
    },
    async branchHead(session) {
      return standOf(world, session);
    },
    async isUnchanged({ base_sha: base }, commit) {
      return contentOf(world, commit) === contentOf(world, base);
    },
    async prepare(attempt, { keepWork }) {
      const { spec, task } = attempt;
      if (task.token > 1 || spec.recoverTo) {
        await gate('sweep');
        endAgents(world, at(attempt));
      }
      if (keepWork && spec.onTop) {
        const content = contentOf(world, spec.onTop);
        world.worktrees.set(at(attempt), { head: spec.onTop, content });
      }
      if (keepWork) return [];
      const existing = world.worktrees.get(at(attempt));
      if (existing && spec.recoverTo && existing.content !== contentOf(world, spec.startSha)) {
        await gate('leftovers');
        world.refs.set(spec.recoverTo, existing.content);
      }
      await gate('reset');
      if (!existing || task.token > 1 || spec.recoverTo || existing.head !== spec.startSha) {
        world.worktrees.set(at(attempt), { head: spec.startSha, content: contentOf(world, spec.startSha) });
      }
      return [];
    },
    async faultOf(attempt) {
      return world.worktrees.has(at(attempt)) ? null : 'the worktree is gone';
    },
    async setup() {
      return null;
    },
    async findCommit(attempt) {
      const { sessionId, iteration } = attempt;
      const head = world.commits.get(world.worktrees.get(at(attempt))?.head ?? '');
      const isOurs =
        head?.parent === parentOf(attempt) && head.session === sessionId && head.iteration === iteration;
      return isOurs ? { commit: head.sha, tree: head.content, files: ['file'] } : null;
    },
    async commit(attempt): Promise<UnitCommit> {
      const { spec, sessionId, iteration } = attempt;
      await gate('stage');
      const worktree = world.worktrees.get(at(attempt));
      if (!worktree) throw new PulseError('internal_error', 'no worktree');
      const sha = `c${world.commits.size}`;
      const { content } = worktree;
      if (content === contentOf(world, worktree.head) && worktree.head === spec.startSha) {
        return { commit: null, tree: content, files: [] };
      }
      // As `git commit` does: on top of where HEAD is. The real one folds back to the start first.
      world.commits.set(sha, { sha, parent: parentOf(attempt), content, session: sessionId, iteration });
      worktree.head = sha;
      await gate('committed');
      return { commit: sha, tree: content, files: ['file'] };
    },
    async commitAgain(attempt, change, on): Promise<UnitCommit | null> {
      const { spec, sessionId, iteration } = attempt;
      await gate('commit again');
      const made = world.commits.get(change)!;
      const added = made.content.slice(contentOf(world, made.parent!).length);
      const parent = on?.parent ?? parentOf(attempt);
      const before = contentOf(world, on?.parent ?? spec.startSha);
      if (world.clashes(before, added)) return null;
      const sha = `c${world.commits.size}`;
      const content = before + added;
      world.commits.set(sha, { sha, parent, content, session: sessionId, iteration });
      world.worktrees.set(at(attempt), { head: sha, content });
      await gate('committed again');
      return { commit: sha, tree: content, files: ['file'] };
    },
    async publish({ task }, commit) {
      await gate('publish');
      world.refs.set(`attempt/${task.id}`, commit);
    },
    async unpublish({ task }, commit) {
      if (world.refs.get(`attempt/${task.id}`) === commit) world.refs.delete(`attempt/${task.id}`);
    },
    async restore(attempt, { commit }) {
      await gate('restore');
      const sha = commit ?? attempt.spec.startSha;
      world.worktrees.set(at(attempt), { head: sha, content: contentOf(world, sha) });
    },
    async saveLeftovers({ spec, sessionId, iteration, task }) {
      const worktree = world.worktrees.get(`${host}:${spec.worktreePath}`);
      if (worktree) world.refs.set(`recovery/${sessionId}/${iteration}.${task.attempt}`, worktree.content);
      return [];
    },
    async takeStand(session) {
      await gate('take stand');
      const stand = standOf(world, session);
      if (stand !== null) world.heads.set(session.id, stand);
      return stand;
    },
    async follow() {
      return null;
    },
    async putOnTop(_, { taskId, to, onto }) {
      await gate('put on top');
      if (world.conflicts.delete(onto)) return null;
      const made = world.commits.get(to)!;
      const added = made.content.slice(contentOf(world, made.parent!).length);
      const sha = `c${world.commits.size}`;
      const content = contentOf(world, onto) + added;
      world.commits.set(sha, { ...made, sha, parent: onto, content });
      world.refs.set(`attempt/${taskId}`, sha);
      await gate('was put on top');
      return { commit: sha, tree: content, files: ['file'] };
    },
    async land(session, { head, name = {}, drop = [], dropBranch, taskId, left }) {
      await gate('land');
      for (const [ref, sha] of Object.entries(name)) world.refs.set(shortRef(ref), sha);
      const moved = head && moveHead(world, session, { ...head, left });
      if (moved?.is === 'ahead') return moved;
      world.refs.delete(`attempt/${taskId}`);
      for (const ref of drop) world.refs.delete(shortRef(ref));
      await gate('landed');
      if (dropBranch && world.branches.get(dropBranch.branch) === dropBranch.at)
        world.branches.delete(dropBranch.branch);
      return moved;
    },
    async close(session, { endedOf }) {
      const key = `${host}:${session.worktree_path}`;
      endAgents(world, key);
      await gate('close');
      world.worktrees.delete(key);
      const attempts = attemptsOf(world);
      if (attempts.length === 0) return [];
      for (const id of await endedOf(attempts)) world.refs.delete(`attempt/${id}`);
      return [];
    },
  };
}

function standOf(world: World, { id, branch_name }: Session): string | null {
  return world.branches.get(branch_name) ?? world.heads.get(id) ?? null;
}

/** The head by compare-and-swap; the branch with it, unless a person has committed on top. */
function moveHead(
  world: World,
  { id, branch_name: branch }: Session,
  { from, to, left }: { from: string; to: string; left: string | null },
): HeadMoved {
  const stood = world.heads.get(id);
  const at = world.branches.get(branch);
  if (stood !== to) {
    if (at !== undefined && ![from, to, left, stood].includes(at)) return { is: 'ahead', at };
    if (stood !== undefined && stood !== from)
      throw new PulseError('ref_moved', `head at ${stood}, expected ${from}`);
    world.heads.set(id, to);
  }
  world.branches.set(branch, to);
  return { is: 'moved', lag: null };
}

/** Without the session, whose refs they all are. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/pulse\/(wip|discarded)\/[^/]+\//, '$1/');
}

/** The attempts that have a ref. */
export function attemptsOf({ refs }: World): string[] {
  return [...refs.keys()].flatMap((ref) =>
    ref.startsWith('attempt/') ? [ref.slice('attempt/'.length)] : [],
  );
}

export function createFakeAgents({ world, gate, host, sleep, nowMs, script }: WorldAccess): AgentHost {
  const beganMs = Date.parse(SUCCESS.endedAt);
  return {
    canBeAsked: () => true,
    async run(attempt, listener, signal) {
      const key = `${host}:${attempt.spec.worktreePath}`;
      const others = [...world.agents].filter((agent) => agent.isAlive && agent.worktree === key);
      if (others.length > 0) world.violations.push(`two agents in ${key} at iteration ${attempt.iteration}`);
      const agent: RunningAgent = { runId: attempt.runId, worktree: key, isAlive: true };
      world.agents.add(agent);
      const isAsked = attempt.runId.endsWith('.nudge');
      if (isAsked) world.nudges.push(attempt.iteration);
      const worktree = world.worktrees.get(key)!;
      const before = worktree.content;
      worktree.content = `${before}?`;
      await gate('agent-started');
      listener.event({ type: 'agent.text', data: { text: `working on ${attempt.iteration}` } });
      await sleep(5_000, signal);
      const {
        verifies: _,
        oldChecks: __,
        opinion: ___,
        person,
        ...scripted
      } = script(attempt.iteration, attempt.task.attempt, attempt.spec.unit, nowMs() - beganMs);
      if (person) commitAsPerson(world, attempt, person);
      if (agent.isAlive && !signal.aborted) worktree.content = `${before}${workOf(world, attempt, before)},`;
      agent.isAlive = false;
      await gate('agent-ended');
      listener.spent({ costUsd: 0.1, tokens: 10 });
      // One that is asked for its signal has run already; what it does to the files meanwhile must not stay.
      if (!isAsked && !scripted.failure && !signal.aborted) world.finishedRuns.push(attempt.iteration);
      if (isAsked) return { ...SUCCESS, finalMessage: '<signal>CONTINUE</signal>', durationMs: 1_000 };
      return { ...SUCCESS, endedAt: new Date(nowMs()).toISOString(), ...scripted };
    },
  };
}

/** On top of the branch, once an iteration. */
function commitAsPerson(
  world: World,
  { iteration, spec: { branch } }: HeldAttempt,
  how: 'commits' | 'conflicts',
): void {
  const sha = `p${iteration}`;
  const parent = world.branches.get(branch);
  if (world.commits.has(sha) || parent === undefined) return;
  const content = `${contentOf(world, parent)}${sha},`;
  world.commits.set(sha, { sha, parent, content, session: '', iteration });
  world.branches.set(branch, sha);
  if (how === 'conflicts') world.conflicts.add(sha);
}

const SUCCESS: RunReport = {
  failure: null,
  stopped: null,
  finalMessage: 'Did a piece.\n<signal>CONTINUE</signal>',
  toolSignal: null,
  usage: { costUsd: 0.1, inputTokens: 5, outputTokens: 5, cacheTokens: 0 },
  model: null,
  durationMs: 5_000,
  endedAt: '2026-01-01T00:00:00.000Z',
};

/** Those who work for the same session count their iterations each: what they make must differ all the same. */
function workOf(
  { beadRuns, isRed }: World,
  { iteration, spec: { work } }: HeldAttempt,
  before: string,
): string {
  const { leadId, number, beadId } = (work ?? {}) as {
    leadId?: string | null;
    number?: number;
    beadId?: string;
  };
  if (beadId) {
    let run = (beadRuns.get(beadId) ?? 0) + 1;
    if (isRed(`${before}${beadId}.${run},`)) run += 1;
    beadRuns.set(beadId, run);
    return `${beadId}.${run}`;
  }
  return leadId ? `exp-${number}` : String(iteration);
}

/** The runs of a unit share one parent. */
function parentOf({ spec }: HeldAttempt): string {
  const { baseSha } = (spec.work ?? {}) as { baseSha?: string };
  return baseSha ?? spec.startSha;
}

function contentOf(world: World, sha: string): string {
  return world.commits.get(sha)?.content ?? '';
}

function endAgents(world: World, worktree: string): void {
  for (const agent of world.agents) if (agent.worktree === worktree) agent.isAlive = false;
}
