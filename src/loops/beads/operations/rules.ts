import type { LoopRules } from '../../../operations/loop-rules.ts';
import { getSession, type Session, updateControl } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import { countFailure, currentTry, isAsked, listTries, updateTry } from '../worker/rows.ts';

export const beadsRules: LoopRules = { findClaim, decideChecks };

/** Where several workers ask, the one that has waited longest comes first; the next one asks again. */
async function findClaim(db: Db, lead: Session): Promise<{ session: Session; commit: string } | null> {
  const asked = (await listTries(db, lead.id, { status: ['accepted'] })).find(isAsked);
  return asked ? { session: await getSession(db, asked.session_id), commit: asked.wip_sha! } : null;
}

/** Accepted, the bead goes to the merge queue. Rejected, its worker continues with what it has and the person's words. */
async function decideChecks(
  db: Db,
  worker: Session,
  { verdict, text = '' }: { verdict: 'accepted' | 'rejected'; text?: string },
): Promise<void> {
  const one = await currentTry(db, worker.id);
  if (!one?.completion?.judgement || !isAsked(one)) return;
  if (verdict === 'accepted') {
    const judgement = { ...one.completion.judgement, verdict };
    await updateTry(db, one.id, { completion: { ...one.completion, judgement }, reason: null });
    return;
  }
  await countFailure(db, one.id);
  // The words are a person's: they reach the next run as an answer, not as evidence.
  await updateControl(db, worker.id, { answer: text });
  const again = {
    kind: 'checks_rejected' as const,
    text: 'A person has looked at the changed checks, and rejected them.',
  };
  await updateTry(db, one.id, { status: 'working', completion: null, reason: null, again });
}
