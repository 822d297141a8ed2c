/** Accepted units get their proof. One that was interrupted is made up for at the next stop or end of the session. */
import { asPulseError } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/events.ts';
import { appendEvents } from '../../store/events.ts';
import { recentIterations } from '../../store/iterations.ts';
import { listJudgements, markProven } from '../../store/judgements.ts';
import { getControl, getSession } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { listVerifications } from '../../store/verifications.ts';
import { act } from '../actions.ts';
import type { Engine } from '../engine.ts';
import type { AcceptedUnit } from '../ports.ts';

/** A proof that cannot be written is told, and stops nobody. */
export async function proveAccepted(engine: Engine, sessionId: string, token: number): Promise<void> {
  const { store, trace, referee } = engine;
  for (const unit of await store.read((db) => findUnproven(db, sessionId))) {
    await act(trace, 'prove', {
      async perform() {
        const { iteration, judgement, commit } = unit;
        const [path, failure] = await referee.prove(unit).then(
          (written): [string, NewEvent | null] => [written, null],
          (error: unknown): [string, NewEvent | null] => [FAILED, proofFailed(commit, error)],
        );
        await store.tx(
          'prove',
          async (db) => {
            await markProven(db, { sessionId, ...judgement }, path);
            if (failure === null) return;
            const event = { ...failure, iteration: iteration.iteration_number };
            await appendEvents(db, sessionId, [event], { token });
          },
          { session: sessionId },
        );
      },
    });
  }
}

/** Not tried again: what stands in the way is told. */
const FAILED = '';

function proofFailed(commit: string, error: unknown): NewEvent {
  return { type: 'proof.failed', data: { commit, reason: asPulseError(error).message } };
}

async function findUnproven(db: Db, sessionId: string): Promise<AcceptedUnit[]> {
  const accepted = (await listJudgements(db, sessionId)).filter(
    ({ verdict, proof }) => verdict === 'accepted' && proof === null,
  );
  if (accepted.length === 0) return [];
  const session = await getSession(db, sessionId);
  const { settings } = await getControl(db, sessionId);
  const oldest = Math.min(...accepted.map(({ iteration }) => iteration));
  const iterations = await recentIterations(db, sessionId, session.current_iteration - oldest + 1);
  const units: AcceptedUnit[] = [];
  for (const judgement of accepted) {
    const iteration = iterations.find(({ iteration_number }) => iteration_number === judgement.iteration);
    const commit = iteration?.commit_hash;
    // A claim without a change has nothing that could be proven.
    if (!iteration || !commit || iteration.outcome !== 'completed') continue;
    const records = await listVerifications(db, sessionId, judgement.iteration);
    const own = records.filter(({ attempt }) => attempt === judgement.attempt);
    units.push({ session, settings, iteration, commit, judgement, records: own });
  }
  return units;
}
