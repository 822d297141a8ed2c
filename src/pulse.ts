/** The composition root: everything is made here and handed down; nothing else knows how it was made. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism, hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findAdapter } from './agents/registry.ts';
import { coordinationTables } from './coordination/tables.ts';
import { formatDuration } from './domain/durations.ts';
import { environmentSecrets } from './domain/environment-secrets.ts';
import type { PulseEvent } from './domain/events.ts';
import { isSessionId } from './domain/ids.ts';
import { createRedactor } from './domain/redact.ts';
import { noTrace, type Trace } from './engine/actions.ts';
import { type FleetOptions, runFleetDaemon } from './engine/attempt/fleet.ts';
import { createLeaseJudge } from './engine/attempt/lease-judge.ts';
import { DEFAULT_TIMING, type Engine, type EngineTiming } from './engine/engine.ts';
import { createLoops, type LoopModule } from './engine/loops.ts';
import { createReferee } from './engine/referee/session-referee.ts';
import { createAgentHost } from './engine/run/agent-host.ts';
import { createContextTools } from './engine/run/context-tools.ts';
import { createRecordings } from './engine/run/recordings.ts';
import { clearRunFolders } from './engine/run/run-folder.ts';
import { createSandboxes } from './engine/run/run-sandbox.ts';
import { type RunnerEnd, runSession } from './engine/runner/runner.ts';
import { hostOwnerState } from './engine/runner/state.ts';
import { systemClock } from './engine/wake/clock.ts';
import { createDoorbell } from './engine/wake/doorbell.ts';
import { createPostgresDoorbell } from './engine/wake/postgres-doorbell.ts';
import { createStorePatience, type StorePatience } from './engine/wake/store-patience.ts';
import { createWorkspace } from './engine/workspace/workspace.ts';
import { openWorktreePorts } from './engine/workspace/worktree-ports.ts';
import { createGit } from './git/exec.ts';
import { createPersistentGit } from './git/persistent-git.ts';
import { type Home, resolveHome } from './home.ts';
import { LOOPS } from './loops/all.ts';
import { listOperations, OPERATIONS } from './loops/table.ts';
import { type CourierHolder, holdCourier } from './notify/courier.ts';
import { courierMeans } from './notify/courier-means.ts';
import type { ChatChannel } from './notify/inbound/answer.ts';
import type { ChatMeans } from './notify/inbound/chats.ts';
import { hearDiscord, hearTwilio } from './notify/inbound/hooks.ts';
import { makePairing } from './notify/inbound/pairing.ts';
import { pollChats } from './notify/inbound/poll.ts';
import { notifyTables } from './notify/tables.ts';
import { type DeviceAccess, openDeviceAccess } from './operations/access/devices.ts';
import { type Watching, watchPullRequests } from './operations/after/watch-pull-requests.ts';
import { type Collected, collectGarbage } from './operations/collect.ts';
import type { Operations } from './operations/context.ts';
import { followLive, type LiveMessage, type LiveOptions } from './operations/dashboard/live.ts';
import { type KeyedWork, runIdempotent } from './operations/idempotent.ts';
import { runJobs } from './operations/jobs.ts';
import { keepHouse } from './operations/keep-house.ts';
import { type CallDefaults, createCall, createMethods, type Methods } from './operations/methods.ts';
import { openContext } from './operations/open-context.ts';
import type { AnyOperation, Call, OperationGroup } from './operations/operation.ts';
import { type Overview, viewOverview } from './operations/overview.ts';
import { type AnswerHook, changeProjectOnce } from './operations/project-change.ts';
import { type Retired, retireOld, retireWhenDue } from './operations/retention.ts';
import { runSchedules, type ScheduleMeans } from './operations/schedule/schedules.ts';
import { openServedSessions, type ServedSessions } from './operations/served-sessions.ts';
import { createTracing } from './operations/trace.ts';
import {
  type FollowOptions,
  followEvents,
  type RunnerState,
  runnerState,
  viewFigures,
  viewSessionAlone,
} from './operations/view.ts';
import { openDialogue } from './process/dialogue.ts';
import { killExactly } from './process/kill.ts';
import { waitingFor } from './process/lock-holders.ts';
import { currentOwner, formatOwner, parseOwner } from './process/owner.ts';
import { createShellCapture } from './process/shell-capture.ts';
import { writeShim } from './process/write-shim.ts';
import type { Figures } from './store/figures.ts';
import type { RequestKey, StoredAnswer } from './store/idempotency.ts';
import { openStore } from './store/open.ts';
import type { Session } from './store/sessions.ts';
import type { Store } from './store/store.ts';
import { createToolEndpoint } from './tools/endpoint.ts';

export interface PulseOptions {
  environment: NodeJS.ProcessEnv;
  /** Who asks, where a call does not say. Default: a program that uses Pulse by TypeScript. */
  caller?: CallDefaults;
  trace?: Trace;
  timing?: Partial<EngineTiming>;
  /** Default: the loops that Pulse has. */
  loops?: readonly LoopModule[];
  /** What other loops contribute to the table; each surface shows it, TypeScript has it by `call`. */
  operations?: OperationGroup;
  /** Called for each durable transaction, each git process and each question to a kept one, to count them. */
  onCommit?: (label: string) => void;
  onGit?: (args: string[], what: 'process' | 'question') => void;
  /** Told, once a store is open, when another process has kept it waiting for two seconds, and which. */
  onWait?: (text: string) => void;
  /** Told when the store that a running session needs is away, and when it is back. */
  onAbsence?: (text: string) => void;
}

export type DaemonOptions = Pick<FleetOptions, 'labels' | 'concurrency' | 'say'>;

/** What is no operation of a person: running, following, keeping house. */
export interface PulseHost extends AsyncDisposable {
  readonly home: Home;
  /** Drives a session in this process until it stops, or the signal aborts. */
  run(sessionId: string, signal: AbortSignal): Promise<RunnerEnd>;
  /** Takes attempts by label until the signal aborts. */
  daemon(options: DaemonOptions, signal: AbortSignal): Promise<void>;
  /** Until people have been told what is to be told here, or the signal aborts. */
  deliverRest(signal: AbortSignal): Promise<void>;
  /** The session alone: its iterations may be long. */
  session(id: string): Promise<Session>;
  runner(sessionId: string): Promise<RunnerState>;
  /** All sessions, in the groups that a person looks for. */
  overview(): Promise<Overview>;
  follow(sessionId: string, options?: FollowOptions): AsyncGenerator<PulseEvent>;
  /** The table: what surfaces are made of. */
  readonly operations: readonly AnyOperation[];
  /** Runs an operation of it. */
  call: Call;
  figures(): Promise<Figures>;
  /** Deletes what has outlived its use in the repository and at the remotes of its sessions. */
  collect(root: string): Promise<Collected>;
  /** Removes what is no longer needed: see docs/day-to-day.md, Cleaning up. It also runs by itself, every few hours. */
  retire(): Promise<Retired>;
  /** Does the work of a request that has a key, or gives the answer it was given before. */
  runIdempotent(request: RequestKey, work: KeyedWork): Promise<StoredAnswer>;
  /** The same for a change of a project, whose answer is kept in its own transaction. */
  changeProjectOnce(request: RequestKey, change: (keep: AnswerHook) => Promise<unknown>): Promise<unknown>;
  /** Does what a `serve` does from time to time, until the signal aborts. */
  keepHouse(options: Watching & { signal: AbortSignal }): Promise<void>;
  /** Looks once at the pull requests whose time has come. */
  watchPullRequests(options: Watching): Promise<void>;
  /** Does what was asked for beside requests, until the signal aborts. */
  runJobs(options: { signal: AbortSignal; say(text: string): void }): Promise<void>;
  /** Starts what was planned, until the signal aborts. */
  runSchedules(means: ScheduleMeans): Promise<void>;
  /** What people write to Pulse by the channels of these settings. */
  chats(options: Pick<ChatMeans, 'notify' | 'actions' | 'say'>): Chats;
  /** A code with which somebody may pair, once, within ten minutes. */
  pairChat(channel: ChatChannel): Promise<string>;
  /** The sessions that the `serve` of this name runs. */
  servedSessions(servedBy: string): ServedSessions;
  /** Everything a page shows, as one stream. */
  live(options: LiveOptions): AsyncGenerator<LiveMessage>;
  /** Who may ask from a page. */
  readonly access: DeviceAccess;
}

export interface Chats {
  /** Reads for the bots, until the signal aborts. */
  poll(signal: AbortSignal): Promise<void>;
  hearTwilio(request: Parameters<typeof hearTwilio>[1]): Promise<string | null>;
  hearDiscord(request: Parameters<typeof hearDiscord>[1]): Promise<object | null>;
}

/** One method for each operation of the table; see docs/typescript.md. */
export type Pulse = PulseHost & Methods<typeof OPERATIONS>;

export async function createPulse(options: PulseOptions): Promise<Pulse> {
  const parts = await openParts(options);
  const { engine, store, patience, git, home, environment, redactor, sandboxes, context, debug } = parts;
  async function prepareRuns(): Promise<void> {
    parts.startCourier();
    clearRunFolders().catch((error: Error) => debug(error.message));
    await writeShim(join(home.bin, 'pulse'), [PULSE_PROGRAM]);
    for (const { kind, programs = {} } of options.loops ?? LOOPS)
      for (const [name, script] of Object.entries(programs))
        await writeShim(join(home.bin, kind, name), [script, name]);
  }
  // A person who asks is told at once that the store is away.
  const asked: Engine = { ...engine, store };
  const operations: Operations = { engine: asked, git, home, environment, redactor, sandboxes, ...context };
  const call = createCall(operations, options.caller ?? { actor: 'typescript', createdBy: 'api' });
  return {
    ...createMethods(OPERATIONS, call),
    operations: listOperations({ ...OPERATIONS, ...options.operations }),
    call,
    home,
    async run(id, signal) {
      const sessionId = await wholeId(operations, id);
      await prepareRuns();
      const tracing = createTracing(operations);
      const running = tracing.during(sessionId, () =>
        patience.during(signal, () => runSession(engine, sessionId, signal, { beside: tracing.during })),
      );
      return running.finally(tracing.settled).finally(() => retireWhenDue(operations, debug));
    },
    async daemon(daemonOptions, signal) {
      await prepareRuns();
      const here = { host: `${hostname()}:${home.path}`, clones: home.clones, worktrees: home.fleet };
      await retireWhenDue(operations, debug);
      return patience.during(signal, () => runFleetDaemon(engine, { ...daemonOptions, ...here }, signal));
    },
    deliverRest: (signal) => parts.startCourier().settle(signal),
    session: (id) => viewSessionAlone(operations, id),
    runner: async (id) => runnerState(operations, await wholeId(operations, id)),
    overview: () => viewOverview(operations),
    async *follow(id, follow) {
      yield* followEvents(operations, await wholeId(operations, id), follow);
    },
    access: openDeviceAccess(operations),
    live: (how) => followLive({ ...operations, bell: parts.bell }, how),
    figures: () => viewFigures(operations),
    collect: (root) => collectGarbage(operations, root),
    retire: () => retireOld(operations),
    runIdempotent: (request, work) => runIdempotent(operations, request, work),
    changeProjectOnce: (request, change) => changeProjectOnce(operations, request, change),
    runJobs: (how) => runJobs(operations, how),
    keepHouse: (how) => keepHouse(operations, how),
    watchPullRequests: (how) => watchPullRequests(operations, how),
    runSchedules: (means) => runSchedules(operations, means),
    chats(how) {
      const { owner, owners } = engine;
      const means = {
        store,
        environment,
        owner,
        isGone: (other: string) => owners(other) === 'dead',
        ...how,
      };
      return {
        poll: (signal) => pollChats(means, signal),
        hearTwilio: (request) => hearTwilio(means, request),
        hearDiscord: (request) => hearDiscord(means, request),
      };
    },
    async pairChat(channel) {
      return store.tx('chat_pair', (db) => makePairing(db, channel));
    },
    servedSessions(servedBy) {
      parts.startCourier();
      return openServedSessions(operations, servedBy);
    },
    [Symbol.asyncDispose]: parts.close,
  };
}

/** Everything that a Pulse is made of. The caller closes it. */
async function openParts(options: PulseOptions) {
  const { environment, trace = noTrace, timing, loops: modules = LOOPS } = options;
  const { onCommit, onGit, onWait } = options;
  const home = resolveHome(environment);
  const courier = holdCourier();
  const { store, pool } = await openStore({
    url: environment.PULSE_DATABASE_URL,
    path: home.database,
    modules: [coordinationTables, notifyTables, ...modules],
    onCommit: ringing(courier, onCommit),
    onWait: onWait && (() => onWait(waitingFor(home.database))),
  });
  const programs = createShellCapture();
  const kept = createPersistentGit((call, events) => openDialogue({ file: 'git', ...call }, events));
  const git = createGit({
    exec: (call) => programs.capture({ file: 'git', ...call }),
    kept,
    onCall: onGit,
    env: environment,
  });
  const bell = pool ? createPostgresDoorbell({ pool }) : createDoorbell({ directory: home.sockets });
  const endpoint = createToolEndpoint();
  const redactor = createRedactor([...environmentSecrets(environment), ...(await ownToken(home))]);
  const sandboxes = createSandboxes({
    git,
    environment,
    stateDirectory: home.path,
    binDirectory: home.bin,
    programDirectory: PROGRAM_DIRECTORY,
  });
  const debug = (text: string) => void (environment.PULSE_DEBUG && process.stderr.write(`${text}\n`));
  const context = openContext({ git, folder: home.index, environment, redactor, debug });
  const { meaning, indexes } = context;
  const ids = { nowMs: Date.now, randomBytes };
  const patience = createTellingPatience(store, options.onAbsence);
  const ports = openWorktreePorts(home.ports);
  const means = { git, environment, redactor, sandboxes };
  const referee = createReferee({
    ...means,
    ports,
    store: patience.store,
    clock: systemClock,
    openAgents: () => agents,
    rooms: home.rooms,
    keyFolder: home.key,
  });
  const loopHost = {
    ...means,
    referee,
    store: patience.store,
    ids,
    bell,
    meaning,
    debug,
  };
  const loops = createLoops(await Promise.all(modules.map((module) => module.open(loopHost))));
  const agents = createAgentHost({
    ...{ findAdapter, endpoint, environment },
    binDirectory: home.bin,
    stateDirectory: home.path,
    redactor,
    sandboxes,
    indexes,
    contextTools: (project) => createContextTools({ store: patience.store, meaning, redactor }, project),
    works: loops.works,
    record: createRecordings(home.recordings),
  });
  const engine = createEngine({
    ...{ bell, trace, referee, agents, ids, loops, timing },
    store: patience.store,
    workspace: createWorkspace({ ...means, works: loops.works, ports }),
  });
  return {
    ...{ engine, store, bell, patience, git, home, environment, redactor, sandboxes, context, debug },
    /** Tells people what they want to hear, from now until it is closed. */
    startCourier: () => courier.start(courierMeans({ store, environment, redactor, engine, debug })),
    async close(): Promise<void> {
      await courier[Symbol.asyncDispose]();
      await indexes[Symbol.asyncDispose]();
      await meaning[Symbol.asyncDispose]();
      programs[Symbol.dispose]();
      await kept[Symbol.asyncDispose]();
      await endpoint[Symbol.asyncDispose]();
      await bell[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

function createTellingPatience(
  store: Store,
  say: PulseOptions['onAbsence'] = () => undefined,
): StorePatience {
  return createStorePatience(store, {
    clock: systemClock,
    onAway: ({ message }) => say(`the store is away: ${message} Waiting for it; agents keep working.`),
    onBack: (awayMs) => say(`the store is back after ${formatDuration(awayMs)}`),
  });
}

/** Its own commits are no news for it. */
function ringing(courier: CourierHolder, onCommit: PulseOptions['onCommit']) {
  return (label: string): void => {
    onCommit?.(label);
    if (!label.startsWith('notify_')) courier.ring();
  };
}

type EngineParts = Pick<
  Engine,
  'store' | 'bell' | 'trace' | 'referee' | 'workspace' | 'agents' | 'ids' | 'loops'
> & { timing?: Partial<EngineTiming> };

/** On this host, by its clock and its processes. */
function createEngine({ timing, ...parts }: EngineParts): Engine {
  const engineTiming = { ...DEFAULT_TIMING, ...timing };
  return {
    ...parts,
    clock: systemClock,
    owner: formatOwner(currentOwner()),
    owners: hostOwnerState,
    leases: createLeaseJudge({ clock: systemClock, timing: engineTiming }),
    host: hostname(),
    maxAgents: Math.max(4, availableParallelism()),
    evict: async (owner) => void killExactly(parseOwner(owner)),
    timing: engineTiming,
  };
}

/** A part of an id is looked up. A whole one is not: following may begin while the store is away. */
async function wholeId(operations: Operations, id: string): Promise<string> {
  return isSessionId(id) ? id : (await viewSessionAlone(operations, id)).id;
}

/** What opens `serve` must not stand in what is stored and shown; `serve` makes it before it opens a Pulse. */
async function ownToken({ token }: Home): Promise<string[]> {
  const text = await readFile(token, 'utf8').catch(() => '');
  return text.trim() === '' ? [] : [text.trim()];
}

/** The program itself, as other processes start it. */
const PROGRAM_DIRECTORY = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const PULSE_PROGRAM = join(PROGRAM_DIRECTORY, 'bin/pulse.js');
