/** Whose turn it is to have an agent on this host (store/agent-slots.ts). */
import { findSlot, type Host, listWaiting } from '../../store/agent-slots.ts';
import { getControl } from '../../store/sessions.ts';
import type { Engine } from '../engine.ts';
import { INBOX } from '../wake/bells.ts';

export function slotsOf(engine: Engine): { host: Host; maxAgents: number } {
  const { host, owners, maxAgents } = engine;
  return { host: { name: host, owners }, maxAgents };
}

/** A look before the claim: who waits in line asks often, and should not have to write for it. */
export async function isTurnOf(
  engine: Engine,
  { sessionId, taskId }: { sessionId: string; taskId: string },
): Promise<boolean> {
  const { host, maxAgents } = slotsOf(engine);
  return engine.store.read(async (db) => {
    const { settings, request } = await getControl(db, sessionId);
    if (request !== null) return false;
    return (await findSlot(db, { host, taskId, maxAgents: settings.maxAgents ?? maxAgents })) === null;
  });
}

/** As many as hear at once that a slot is free: more than one may have become so. */
const RUNG = 4;

/** A slot is free. A ring that is lost costs a slow poll. */
export async function ringWaiting(engine: Engine): Promise<void> {
  const { host } = slotsOf(engine);
  const line = await engine.store.read((db) => listWaiting(db, host)).catch(() => []);
  for (const { sessionId } of line.slice(0, RUNG)) engine.bell.ring(sessionId);
  engine.bell.ring(INBOX);
}
