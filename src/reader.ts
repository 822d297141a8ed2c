/** Reading sessions without the engine: most of what a quick question costs is loading what it does not need. */
import { existsSync } from 'node:fs';
import { coordinationTables } from './coordination/tables.ts';
import { environmentSecrets } from './domain/environment-secrets.ts';
import { PulseError } from './domain/errors.ts';
import { createRedactor, type Redactor } from './domain/redact.ts';
import { type Home, isRunWithoutStore, resolveHome } from './home.ts';
import { LOOPS } from './loops/all.ts';
import { notifyTables } from './notify/tables.ts';
import type { Overview } from './operations/overview.ts';
import type { Reading, RunnerState, SessionView } from './operations/view.ts';
import { waitingFor } from './process/lock-holders.ts';
import { openStore } from './store/open.ts';
import { listChildren, type Session, type SessionFilter } from './store/sessions.ts';
import type { Store } from './store/store.ts';

/** As the methods of `Pulse` of the same names. */
export interface Reader extends AsyncDisposable {
  show(id: string): Promise<SessionView>;
  list(filter: SessionFilter): Promise<{ sessions: Session[] }>;
  runner(sessionId: string): Promise<RunnerState>;
  overview(): Promise<Overview>;
  /** The sessions that work for it. */
  children(id: string): Promise<Session[]>;
  /** For each id the shortest ending that is enough to name it. */
  shortNames(ids: readonly string[]): Promise<Map<string, string>>;
  /** The newest session of the project that works for no other. */
  newest(projectId: string): Promise<string | null>;
}

export interface ReaderOptions {
  environment: NodeJS.ProcessEnv;
  onWait?: (text: string) => void;
}

/** The store alone, for what is no session. */
export interface StoreReader extends AsyncDisposable {
  store: Store;
  redactor: Redactor;
}

/**
 * The caller closes it (`await using`). Every table is made by the first process that opens the store: a second one must
 * not have to write in order to read.
 */
export async function openStoreReader({ environment, onWait }: ReaderOptions): Promise<StoreReader> {
  const home: Home = resolveHome(environment);
  refuseNewStore(environment);
  const { store } = await openStore({
    url: environment.PULSE_DATABASE_URL,
    path: home.database,
    modules: [coordinationTables, notifyTables, ...LOOPS],
    onWait: onWait && (() => onWait(waitingFor(home.database))),
  });
  const redactor = createRedactor(environmentSecrets(environment));
  return { store, redactor, [Symbol.asyncDispose]: () => store.close() };
}

/** Reading what is at the usual place does no harm; inside a run nothing is made there. */
export function mayOpenStore(environment: NodeJS.ProcessEnv): boolean {
  return !isRunWithoutStore(environment) || existsSync(resolveHome(environment).database);
}

/** Throws `inside_run`. */
export function refuseNewStore(environment: NodeJS.ProcessEnv): void {
  if (mayOpenStore(environment)) return;
  throw new PulseError('inside_run', 'This run has no way to the state directory.', {
    hint: "Use the tools of the run: pulse tool NAME 'JSON'.",
  });
}

/** The caller closes it (`await using`). */
export async function openReader(options: ReaderOptions): Promise<Reader> {
  const { store, redactor } = await openStoreReader(options);
  const { viewOverview } = await import('./operations/overview.ts');
  const { runnerState, viewSession, viewSessions } = await import('./operations/view.ts');
  const { ownerState, parseOwner } = await import('./process/owner.ts');
  const { newestOfProject, shortNames } = await import('./store/session-ids.ts');
  const reading: Reading = {
    engine: { store, owners: (owner) => ownerState(parseOwner(owner)) },
    redactor,
  };
  return {
    show: (id) => viewSession(reading, id),
    list: async (filter) => ({ sessions: await viewSessions(reading, filter) }),
    runner: (sessionId) => runnerState(reading, sessionId),
    overview: () => viewOverview(reading),
    children: (id) => store.read((db) => listChildren(db, id)),
    shortNames: (ids) => store.read((db) => shortNames(db, ids)),
    newest: (projectId) => store.read((db) => newestOfProject(db, projectId)),
    [Symbol.asyncDispose]: () => store.close(),
  };
}
