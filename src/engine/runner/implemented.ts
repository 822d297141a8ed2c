/** A session that carries out what another has found: the other one is told of its end. */
import { findSession, type Session } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import type { SessionState, Stop } from '../loop.ts';
import type { Loops } from '../loops.ts';

/** In the transaction of the end. */
export async function reportImplemented(
  db: Db,
  { state, stop, loops }: { state: SessionState; stop: Stop; loops: Loops },
): Promise<void> {
  const found = await findingSession(db, state);
  if (found) await loops.find(found)?.hooks?.implemented?.(db, found, { session: state.session, stop });
}

/** May be repeated: a crash after the end comes here again. */
export async function finishImplemented(engine: Engine, state: SessionState): Promise<void> {
  const found = await engine.store.read((db) => findingSession(db, state));
  if (found) await engine.loops.find(found)?.hooks?.afterImplemented?.(engine, found);
}

/** Those that work for it have its settings, and are not meant. */
async function findingSession(db: Db, { session, control }: SessionState): Promise<Session | null> {
  const { implements: id } = control.settings;
  return id === undefined || session.parent_session_id !== null ? null : findSession(db, id);
}
