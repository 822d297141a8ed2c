/** All that is needed to run the checks of one attempt in its session's room. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { VerificationRecord } from '../../domain/attempt.ts';
import { PulseError } from '../../domain/errors.ts';
import type { Git } from '../../git/exec.ts';
import { treeOf } from '../../git/git-dir.ts';
import { evidenceTree } from '../../git/tree.ts';
import { sweepDirectory } from '../../process/sweep.ts';
import { runChecks } from '../../project/run-checks.ts';
import { namingVariables } from '../../referee/output/telling-environment.ts';
import type { Pins } from '../../referee/pins/pins.ts';
import type { Room } from '../../referee/room/room.ts';
import { type RoomTree, roomPlace } from '../../referee/room/room-git.ts';
import { type CheckRun, type CheckRuns, type RunRequest, runCommands } from '../../referee/run-commands.ts';
import type { Store } from '../../store/store.ts';
import type { Claim, HeldAttempt } from '../ports.ts';
import type { WorkspaceMeans } from '../workspace/means.ts';
import { checkOptions } from '../workspace/worktree-commands.ts';
import { isPortFree } from '../workspace/worktree-ports.ts';
import { sessionRuns } from './base-reading.ts';
import { openSessionRoom, type SessionRoom } from './session-room.ts';
import { refereeSettings } from './settings.ts';

/** What judging needs of this host. */
export interface RefereeMeans
  extends Pick<WorkspaceMeans, 'git' | 'environment' | 'redactor' | 'sandboxes' | 'ports'> {
  store: Store;
  /** The folder of all rooms. */
  rooms: string;
  /** Where the key is that proofs are signed with. */
  keyFolder: string;
}

export interface Bench {
  attempt: HeldAttempt;
  room: Room;
  /** For objects that only the room has. */
  placed: Git;
  shown: SessionRoom['shown'];
  base: RoomTree;
  commands: readonly string[];
  environmentKey: string;
  passes: Claim['passes'];
  runs: CheckRuns;
  signal: AbortSignal;
  run(commands: readonly string[], options: RunOptions): Promise<VerificationRecord[]>;
  /** What is read from outputs and reports is stored and shown. */
  redact(text: string): string;
}

interface RunOptions {
  until: 'all' | 'first';
  phase: 'setup' | 'base' | 'verifying' | 'replay' | 'held_out' | 'canary';
  commit: string | null;
  onOutput?(output: string): void;
}

export async function openBench(
  means: RefereeMeans,
  attempt: HeldAttempt,
  { signal, claim }: { signal: AbortSignal; claim: Pick<Claim, 'baseSha' | 'commands' | 'passes'> },
): Promise<Bench> {
  const { git, sandboxes, rooms, store } = means;
  const { spec, sessionId, task, runId } = attempt;
  const path = join(rooms, sessionId);
  const { room, shown } = await openSessionRoom(means, { path, spec, setup: spec.setup, signal });
  const { folders } = room;
  if (task.token > 1) await sweepDirectory(folders.tree);
  const commit = claim.baseSha ?? spec.baseSha ?? spec.startSha;
  return {
    attempt,
    room,
    shown,
    placed: git.bind({ signal, place: roomPlace(folders) }),
    base: { tree: await treeOf(git, { cwd: spec.projectPath, commit }), commit },
    commands: claim.commands ?? spec.verify,
    environmentKey: keyOfEnvironment((await checkOptions(means, attempt)).env, spec),
    passes: claim.passes,
    runs: sessionRuns(store, attempt),
    signal,
    redact: (text) => means.redactor.redact(text),
    async run(commands, { until, phase, commit: judged, onOutput }) {
      const ports = await portsIn(means, attempt, { tree: folders.tree, phase });
      const options = await checkOptions(means, { spec, ports });
      return runChecks({
        ...options,
        env: {
          ...options.env,
          ...room.environment,
          ...(phase === 'setup' ? {} : namingVariables(options.env)),
        },
        sandbox: await sandboxes.plan({ spec, room: shown }),
        commands,
        cwd: folders.tree,
        tree: '',
        commit: judged,
        runId: `${runId}.${phase === 'setup' ? 'setup' : 'verify'}`,
        signal,
        until,
        onOutput,
        onCommand: async (command) => attempt.enter?.(phase, phase === 'held_out' ? undefined : command),
      });
    },
  };
}

/**
 * Those of the worktree, for that is what they are called for a session. The checks of the base may run beside the agent,
 * and an agent that waits for a judgement may still have its server: then the room has ports of its own.
 */
async function portsIn(
  { ports: registry }: Pick<RefereeMeans, 'ports'>,
  { spec, ports = {} }: HeldAttempt,
  { tree, phase }: { tree: string; phase: RunOptions['phase'] },
): Promise<Record<string, string>> {
  const names = spec.needs?.ports ?? [];
  if (names.length === 0) return {};
  const free = await Promise.all(names.map((name) => isPortFree(Number(ports[name]))));
  return phase !== 'base' && free.every(Boolean) ? ports : registry.of(tree, names);
}

/** Of the window or folder that a person happens to sit in, which no check should depend on. */
const OF_A_TERMINAL = /^(?:TERM|COLUMNS|LINES|PWD|OLDPWD|SHLVL|_|WINDOWID|SSH_\w+|TMUX\w*|STY)$/;

/** A hash: the values may be secrets. */
function keyOfEnvironment(env: Record<string, string>, { sandbox }: HeldAttempt['spec']): string {
  const given = Object.entries(env).filter(([name]) => !OF_A_TERMINAL.test(name));
  const parts = [given.toSorted(([one], [other]) => (one < other ? -1 : 1)), sandbox ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** What setup fails with in the room; `null`: nothing. */
export async function runSetup(
  bench: Bench,
  commands: readonly string[],
): Promise<VerificationRecord | null> {
  const records = await bench.run(commands, { until: 'first', phase: 'setup', commit: null });
  return records.find((record) => !record.passed) ?? null;
}

/** What evidence leaves out of a tree. */
const LEFT_OUT = ['.pulse', '.context', 'history'];

export interface CheckPlan {
  at: RoomTree;
  roomKey: string;
  pins: Pins | null;
  isRepeated: boolean;
  phase: RunOptions['phase'];
}

/** Runs the checks in the room, which stands on the tree already. */
export async function runChecksIn(bench: Bench, plan: CheckPlan): Promise<CheckRun[]> {
  return runCommands(await requestFor(bench, plan));
}

export async function requestFor(bench: Bench, plan: CheckPlan): Promise<RunRequest> {
  const { room, runs, signal, placed, attempt, commands, passes, environmentKey } = bench;
  const { at, phase: _, ...how } = plan;
  const { tree: cwd } = room.folders;
  const isPlain = !LEFT_OUT.some((name) => existsSync(join(cwd, name)));
  const evidence = isPlain ? at.tree : await evidenceTree(placed, { worktree: cwd, commit: at.tree });
  return {
    room,
    at: { ...at, evidenceTree: evidence },
    ...how,
    commands,
    environmentKey,
    reports: refereeSettings(attempt.spec).reports,
    runs,
    signal,
    passes,
    redact: bench.redact,
    async restore() {
      await room.enter(at, { runSetup: (setup) => runSetup(bench, setup) });
    },
    execute: (command) => executeIn(bench, plan, command),
  };
}

/** One command in the room, as it stands now. */
export async function executeIn(
  bench: Bench,
  { at, phase }: Pick<CheckPlan, 'at' | 'phase'>,
  command: string,
): Promise<{ record: VerificationRecord; output: string }> {
  let output = '';
  const [record] = await bench.run([command], {
    until: 'all',
    phase,
    commit: at.commit,
    onOutput: (text) => {
      output = bench.redact(text);
    },
  });
  // Told to stop before it could begin.
  if (!record) throw new PulseError('fenced', `${command} was not run: the attempt is over.`);
  return { record, output };
}
