/** What a swarm does next. The lead makes workers and waits; a worker takes beads, one after the other. Pure. */
import type { SessionState as State, Step, Stop } from '../../../engine/loop.ts';
import { budgetStop } from '../../../engine/runner/budget.ts';
import type { ChildPlan } from '../../../engine/runner/children.ts';
import type { Session } from '../../../store/sessions.ts';
import { baseStep } from '../../shared/base-step.ts';
import { isLanding } from './claim-landing.ts';
import { heldWords } from './held-files.ts';
import { judgeBead } from './judge-bead.ts';
import { judgeMerge, judgePrepare } from './judge-merge.ts';
import { CONFLICTS_OF_A_WORKER, CONTEXT_LIMIT, nicknameOf } from './model.ts';
import { adoptTry, type BeadWorker, insertWorker, isAsked } from './rows.ts';
import type { BeadsState } from './state.ts';

type SessionState = State<BeadsState>;

export function decideBeads(state: SessionState): Step {
  const { own, session, control, live } = state;
  // A pause goes to the workers first: each finishes its current run.
  if (session.status === 'running' && control.request && own.children.some(isAtWork)) return { do: 'wait' };
  const common = baseStep(state);
  if (common) return common;
  if (own.worker !== null) return live ? judgeBead(state, live) : nextOfWorker(state);
  if (live)
    return live.task.spec.work?.kind === 'prepare_swarm'
      ? judgePrepare(state, live)
      : judgeMerge(state, live);
  return nextOfLead(state);
}

function isAtWork({ status }: Pick<Session, 'status'>): boolean {
  return status === 'running' || status === 'pending';
}

/** So many in the place of each one that has died. */
const REPLACEMENTS = 3;

function nextOfLead({ session, own }: SessionState): Step {
  const { swarm, children, workers, open, hasNext, held, inFlight, queue, orphans, tries } = own;
  if (orphans.length > 0) return { do: 'host', name: 'release_bead', data: null };
  // One that moves the branch comes first.
  if (queue.length > 0 && !tries.some(isLanding)) return { do: 'run', work: 'merge_beads' };
  if (open.length === 0 && !children.some(isAtWork)) return end('complete', 'completed', null);
  if (children.length === 0) {
    const isSetUp = session.setup?.length === 0 || session.current_iteration > 0;
    if (swarm.workers > 1 && !isSetUp) return { do: 'run', work: 'prepare_swarm' };
    return { do: 'spawn', children: plansOf(own, 1, swarm.workers) };
  }
  const stop = budgetStop(session);
  const isWorkLeft = hasNext || held.length > 0 || inFlight.length > 0;
  const lost = children.filter((child) => isLost(child, workers));
  const missing =
    swarm.workers - children.filter((child) => isAtWork(child) || !isLost(child, workers)).length;
  // Handing over is no trouble: only the dead count.
  const dead = lost.filter(({ status }) => status === 'failed');
  const isReplaceable = lost.length > 0 && dead.length <= swarm.workers * REPLACEMENTS;
  // A bead in flight is nobody else's: it is continued although a resume has brought back one that had died.
  const stranded = children.filter(({ id, status }) => status === 'complete' && inFlight.includes(id)).length;
  const count = Math.max(missing, stranded);
  if (!stop && isWorkLeft && count > 0 && isReplaceable)
    return { do: 'spawn', children: replacementsOf(own).slice(0, count) };
  if (children.some(isAtWork)) return { do: 'wait' };
  if (stop) return { do: 'end', stop };
  // One that died has left its bead to others: it is the reason only while work is there that nobody takes.
  const stopped = children.filter(
    ({ status }) => status === 'blocked' || status === 'paused' || (status === 'failed' && isWorkLeft),
  );
  // Others may only wait for the answer to its question.
  const troubled = stopped.find(asksPerson) ?? stopped[0];
  if (troubled) return endAs(troubled);
  return end('blocked', 'unresolved_issues', openWords(own));
}

function asksPerson({ stop_reason: reason }: Session): boolean {
  return reason === 'checks_changed' || reason === 'merge_conflict';
}

/** It died, or has handed over: another may take its place. */
function isLost({ id, status }: Session, workers: BeadsState['workers']): boolean {
  const row = workers.find(({ session_id }) => session_id === id);
  return status === 'failed' || (status === 'complete' && row?.left_for != null);
}

function plansOf({ swarm }: BeadsState, first: number, count: number): ChildPlan[] {
  return Array.from({ length: count }, (_, index) => ({
    write: (db, childId) =>
      insertWorker(db, {
        session_id: childId,
        swarm_id: swarm.session_id,
        nickname: swarm.mode === 'standalone' ? 'single-worker' : nicknameOf(first + index),
        mail_name: null,
      }),
  }));
}

/** Each name that a worker has left and nobody continues, first with a bead in flight; then another for each that died. */
function replacementsOf({ swarm, workers, children, inFlight }: BeadsState): ChildPlan[] {
  const place = { swarm_id: swarm.session_id };
  const isLeft = ({ session_id, left_for }: BeadWorker): boolean =>
    left_for !== null && children.some(({ id, status }) => id === session_id && status === 'complete');
  const byName = Map.groupBy(workers, ({ nickname }) => nickname);
  const hasBead = (rows: readonly BeadWorker[]): boolean =>
    rows.some((row) => inFlight.includes(row.session_id));
  const left = [...byName]
    .filter(([, rows]) => rows.every(isLeft))
    .toSorted(([, one], [, other]) => Number(hasBead(other)) - Number(hasBead(one)));
  const continued = left.map(([nickname, rows]): ChildPlan => {
    const mail_name = rows.findLast((row) => row.mail_name !== null)?.mail_name ?? null;
    return {
      async write(db, childId) {
        await insertWorker(db, { session_id: childId, ...place, nickname, mail_name });
        // The last of them has the bead that was in flight.
        for (const { session_id: from } of rows) await adoptTry(db, { from, to: childId });
      },
    };
  });
  const dead = children.filter(({ status }) => status === 'failed');
  const beside = dead.map((_, index): ChildPlan => {
    const nickname = nicknameOf(children.length + left.length + index + 1);
    return {
      write: (db, childId) => insertWorker(db, { session_id: childId, ...place, nickname, mail_name: null }),
    };
  });
  return [...continued, ...beside];
}

function endAs({ status, stop_reason, blocked_reason: detail }: Session): Step {
  const stop = { status: status as Stop['status'], reason: stop_reason ?? 'internal_error', detail };
  return { do: 'end', stop };
}

const BEADS_TOLD = 10;

function openWords({ open, held }: BeadsState): string {
  const told = open.slice(0, BEADS_TOLD).map(({ id, status, missing }) => {
    const lacks = missing.length > 0 ? `, lacks ${missing.join(', ')}` : '';
    const kept = held.find((one) => one.id === id);
    return `${id} (${status}${lacks}${kept ? `, ${heldWords(kept)}` : ''})`;
  });
  const more = open.length > BEADS_TOLD ? ` and ${open.length - BEADS_TOLD} more` : '';
  return `Nothing can be worked on, and these beads are not closed: ${told.join(', ')}${more}.`;
}

function nextOfWorker({ session, own }: SessionState): Step {
  const { worker, current, hasNext, held, open, orphans, stalled } = own;
  if (orphans.length > 0) return { do: 'host', name: 'release_bead', data: null };
  const stop = budgetStop(session);
  if (stop) return { do: 'end', stop };
  if (worker!.acknowledged_at === null) return { do: 'host', name: 'acknowledge', data: null };
  if (worker!.left_for !== null) return end('complete', 'completed', worker!.left_for);
  if (current?.try.again?.kind === 'overflow') return { do: 'host', name: 'hand_off', data: null };
  if (current?.try.status === 'accepted') {
    const { conflicts, reason } = current.try;
    if (isAsked(current.try)) return end('blocked', 'checks_changed', reason);
    if (conflicts > CONFLICTS_OF_A_WORKER) return end('blocked', 'merge_conflict', reason);
    // The merge queue has it.
    return { do: 'wait' };
  }
  if (current) return { do: 'run', work: 'bead' };
  if (open.length > 0 && (worker!.context_used ?? 0) > CONTEXT_LIMIT)
    return { do: 'host', name: 'hand_off', data: null };
  // It also reads the inbox, and tells of files that are in the way.
  if (hasNext || own.isHeldUntold || own.hasMail) return { do: 'host', name: 'take_bead', data: null };
  // What another works on may free more.
  if (open.some(({ id, claim }) => claim !== null && !stalled.includes(id))) return { do: 'wait' };
  // They are released, or expire: nobody has to say that it may continue.
  if (held.length > 0) return { do: 'wait' };
  // It continues with the swarm, when a person has decided.
  if (stalled.length > 0 && open.some(({ status, claim }) => status === 'open' && claim === null))
    return end('blocked', 'unresolved_issues', `A person has to decide about ${stalled.join(', ')} first.`);
  return end('complete', 'completed', null);
}

function end(status: Stop['status'], reason: Stop['reason'], detail: string | null): Step {
  return { do: 'end', stop: { status, reason, detail } };
}
