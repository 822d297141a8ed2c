/** Reading sessions without the engine: most of what a quick question costs is loading what it does not need. */
import { coordinationTables } from './coordination/tables.ts';
import { environmentSecrets } from './domain/environment-secrets.ts';
import { createRedactor, type Redactor } from './domain/redact.ts';
import { type Home, resolveHome } from './home.ts';
import { LOOPS } from './loops/all.ts';
import { notifyTables } from './notify/tables.ts';
import type { Overview } from './operations/overview.ts';
import type { Reading, RunnerState, SessionView } from './operations/view.ts';
import { waitingFor } from './process/lock-holders.ts';
import { openStore } from './store/open.ts';
import type { Session, SessionFilter } from './store/sessions.ts';
import type { Store } from './store/store.ts';

/** As the methods of `Pulse` of the same names. */
export interface Reader extends AsyncDisposable {
  show(id: string): Promise<SessionView>;
  list(filter: SessionFilter): Promise<{ sessions: Session[] }>;
  runner(sessionId: string): Promise<RunnerState>;
  overview(): Promise<Overview>;
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
  const { store } = await openStore({
    url: environment.PULSE_DATABASE_URL,
    path: home.database,
    modules: [coordinationTables, notifyTables, ...LOOPS],
    onWait: onWait && (() => onWait(waitingFor(home.database))),
  });
  const redactor = createRedactor(environmentSecrets(environment));
  return { store, redactor, [Symbol.asyncDispose]: () => store.close() };
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
    shortNames: (ids) => store.read((db) => shortNames(db, ids)),
    newest: (projectId) => store.read((db) => newestOfProject(db, projectId)),
    [Symbol.asyncDispose]: () => store.close(),
  };
}
