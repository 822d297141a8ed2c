/** The sessions that a `serve` runs; the next one on the same state directory continues them. */
import { listServed, setServedBy } from '../store/served.ts';
import type { Operations, TransactionHook } from './context.ts';

export interface ServedSessions {
  /** Written with a start or a resume, so that no crash can leave a session that nobody will go on with. */
  take: TransactionHook;
  takeOver(sessionId: string): Promise<void>;
  letGo(sessionId: string): Promise<void>;
  /** Those that should be running, oldest first. */
  list(): Promise<string[]>;
}

export function openServedSessions({ engine: { store } }: Operations, servedBy: string): ServedSessions {
  const set = (session: string, value: string | null): Promise<void> =>
    store.tx('serve', (db) => setServedBy(db, session, value), { session });
  return {
    take: (db, sessionId) => setServedBy(db, sessionId, servedBy),
    takeOver: (sessionId) => set(sessionId, servedBy),
    letGo: (sessionId) => set(sessionId, null),
    list: () => store.read((db) => listServed(db, servedBy)),
  };
}
