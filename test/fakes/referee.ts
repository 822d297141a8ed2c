/** A referee without rooms on a disk: it says what the script says, and notices what must never be. */
import type { VerificationRecord } from '../../src/domain/attempt.ts';
import { PulseError } from '../../src/domain/errors.ts';
import type { Judgement } from '../../src/domain/judgement.ts';
import type { Claim, ExaminedClaim, HeldAttempt, Referee } from '../../src/engine/ports.ts';
import type { WorldAccess } from './world.ts';

export const ACCEPTED: Judgement = {
  verdict: 'accepted',
  trust: 'verified',
  reasons: [],
  changes: [],
  declared: [],
  replay: null,
  notes: [],
  flaky: [],
};

export function createFakeReferee({ world, gate, host, script }: WorldAccess): Referee {
  const scripted = ({ iteration, task, spec }: HeldAttempt) => script(iteration, task.attempt, spec.unit);

  /** One attempt at a time is in the room of a session. */
  async function inRoom<T>({ sessionId, runId, task }: HeldAttempt, work: () => Promise<T>): Promise<T> {
    const room = `${host}:${sessionId}`;
    const inside = world.rooms.get(room);
    // What an interrupted claim left running there is ended first.
    if (inside && task.token > 1) inside.isAlive = false;
    if (inside?.isAlive && inside.runId !== runId)
      world.violations.push(`two attempts in the room of ${sessionId}`);
    const visit = { runId, isAlive: true };
    world.rooms.set(room, visit);
    try {
      return await work();
    } finally {
      visit.isAlive = false;
    }
  }

  return {
    readBase: (attempt) =>
      inRoom(attempt, async () => {
        await gate('read base');
        return null;
      }),
    examine: (attempt, claim) =>
      inRoom(attempt, async () => {
        await gate('verify');
        const { verifies = true, oldChecks } = scripted(attempt);
        const judgement: Judgement = verifies
          ? { ...ACCEPTED, changes: oldChecks ? [{ path: 'check', part: null, what: 'changed' }] : [] }
          : { ...ACCEPTED, verdict: 'rejected', reasons: ['check failed (exit 1)'] };
        const failed = verifies ? [] : ['check'];
        return {
          claim,
          records: [record(verifies, claim)],
          failed,
          needsReplay: Boolean(oldChecks),
          judgement,
        };
      }),
    replay: (attempt, examined) => inRoom(attempt, () => replay(attempt, examined)),
    async review(attempt, examined) {
      const { opinion } = scripted(attempt);
      if (opinion === undefined || examined.judgement.verdict === 'rejected') return examined;
      // As the real one does: a verdict that is stored is not asked for again.
      const key = `${attempt.sessionId}:${examined.claim.tree}`;
      if (!world.opinions.has(key)) {
        await inRoom(attempt, () => gate('review'));
        // Another has the attempt by now: what this one would store is refused.
        if (world.opinions.has(key)) throw new PulseError('fenced', 'The attempt is another’s.');
        world.opinions.add(key);
      }
      const { judgement } = examined;
      const refused = { ...judgement, verdict: 'rejected' as const, reasons: ['Second opinion: no'] };
      return { ...examined, judgement: opinion === 'accept' ? judgement : refused };
    },
    async prove({ commit }) {
      await gate('prove');
      if (!world.commits.has(commit)) world.violations.push(`a proof of ${commit}, which is not there`);
      world.proofs.push(commit);
      return `${commit}/proof`;
    },
    async close(sessionId) {
      world.rooms.delete(`${host}:${sessionId}`);
    },
  };

  async function replay(attempt: HeldAttempt, examined: ExaminedClaim): Promise<ExaminedClaim> {
    await gate('replay');
    const { oldChecks } = scripted(attempt);
    const holds = oldChecks === 'hold';
    const decided: Partial<Judgement> = holds
      ? {}
      : oldChecks === 'declared'
        ? { verdict: 'ask', trust: 'verified_checks_changed', reasons: ['the old check fails'] }
        : { verdict: 'rejected', reasons: ['the old check fails'] };
    const replayed = { tree: 'replay', passed: holds, commands: [] };
    return { ...examined, judgement: { ...examined.judgement, ...decided, replay: replayed } };
  }
}

function record(passed: boolean, { commit, tree }: Claim): VerificationRecord {
  return {
    command: 'check',
    cwd: '/',
    exit: passed ? 0 : 1,
    passed,
    durationMs: 1,
    outputHash: '',
    outputTail: '',
    tree,
    commit,
    environment: '',
    at: '2026-01-01T00:00:00.000Z',
  };
}
