/**
 * What verified the beads that a swarm has closed holds on, so that its branch is green at every merge: it is asked of
 * each tree that lands, after the checks of the beads that it brings (docs/protocol/beads.md, Merge).
 */
import type { VerificationRecord } from '../../../domain/attempt.ts';
import type { DeclaredChange, Judgement } from '../../../domain/judgement.ts';
import type { ExaminedClaim, HeldAttempt, Referee } from '../../../engine/ports.ts';
import { getControl, getSession } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import type { Check } from '../graph/bead.ts';
import { judgeExpect, parseExpect } from '../graph/expect.ts';
import { findBeads } from '../graph/rows.ts';
import type { OutdatedCheck } from './model.ts';
import { currentTry, listTries } from './rows.ts';

export interface EarlierCheck extends Check {
  /** Whose it is, in words. */
  whose: string;
  bead: string;
}

/**
 * Of the beads that the swarm has closed, in that order, each command with its expectation once. Those of a bead that a
 * person has opened again do not count, nor do those that a bead has ended with the plan's leave.
 */
export async function listEarlierChecks(
  db: Db,
  { swarmId, projectId }: { swarmId: string; projectId: string },
): Promise<EarlierCheck[]> {
  const tries = await listTries(db, swarmId, { status: ['closed'] });
  const ids = [...new Set(tries.map(({ bead_id: id }) => id))];
  const beads = new Map((await findBeads(db, projectId, ids)).map((bead) => [bead.id, bead]));
  const checks = new Map<string, EarlierCheck>();
  const closed = tries.toSorted((one, other) => ((one.ended_at ?? '') < (other.ended_at ?? '') ? -1 : 1));
  for (const { bead_id: id, completion } of closed) {
    for (const check of completion?.outdated ?? []) checks.delete(keyOf(check));
    const bead = beads.get(id);
    if (bead?.status !== 'closed') continue;
    for (const check of bead.fields.verify ?? [])
      if (!checks.has(keyOf(check)))
        checks.set(keyOf(check), { ...check, bead: id, whose: `${id} (${bead.title})` });
  }
  return [...checks.values()];
}

/**
 * Those that the worker's bead has to stand beside where it lands directly. None for one that others have overtaken: the
 * merge queue asks them on the tree that it makes.
 */
export async function earlierForLanding(
  db: Db,
  { sessionId, baseSha }: { sessionId: string; baseSha: string },
): Promise<EarlierCheck[]> {
  const one = await currentTry(db, sessionId);
  if (!one) return [];
  const { swarm_id: swarmId, project_id: projectId } = one;
  const { head_sha: head } = await getControl(db, swarmId);
  const { base_sha: base } = await getSession(db, swarmId);
  if ((head ?? base) !== baseSha) return [];
  return listEarlierChecks(db, { swarmId, projectId });
}

export interface SplitChecks {
  /** Other commands than the beads' own. */
  others: EarlierCheck[];
  /** The same commands, of which something else is expected. */
  shared: EarlierCheck[];
}

/** A command is run once on a tree: all that is expected of it is asked together. */
export function splitEarlier(earlier: readonly EarlierCheck[], own: readonly Check[]): SplitChecks {
  const commands = new Set(own.map(({ command }) => command));
  const known = new Set(own.map(keyOf));
  const others = earlier.filter(({ command }) => !commands.has(command));
  const shared = earlier.filter((check) => commands.has(check.command) && !known.has(keyOf(check)));
  return { others, shared };
}

export interface EarlierRequest {
  tree: string;
  baseSha: string;
  /** The tree of `baseSha`. Called only where something fails. */
  baseTree(): Promise<string>;
  checks: readonly EarlierCheck[];
  declared: readonly DeclaredChange[];
  /** The person who approved the plan has said that checks may change. */
  changesChecks?: boolean;
  signal: AbortSignal;
}

export interface CheckedEarlier {
  records: VerificationRecord[];
  /** What it breaks, and whose that is. */
  reasons: string[];
  /** `null`: nothing was asked. */
  judgement: Judgement | null;
  /** Those that it ends, with the plan's leave. */
  outdated: OutdatedCheck[];
}

/**
 * One that was red before is not held against the bead: its worker can neither have broken it nor, within its files,
 * mend it.
 */
export async function runEarlierChecks(
  referee: Referee,
  attempt: HeldAttempt,
  request: EarlierRequest,
): Promise<CheckedEarlier> {
  const { checks, baseSha, baseTree, changesChecks = false, signal } = request;
  const ask = (tree: string, asked: readonly EarlierCheck[]) =>
    examine(referee, attempt, { ...request, tree, checks: asked });
  if (checks.length === 0) return { records: [], reasons: [], judgement: null, outdated: [] };
  let { examined, faults } = await ask(request.tree, checks);
  const broken = checks.filter((check) => faults.has(check));
  let outdated: EarlierCheck[] = [];
  if (broken.length > 0 && !signal.aborted) {
    const before = await ask(await baseTree(), broken);
    const blamed = broken.filter((check) => !before.faults.has(check));
    if (blamed.length > 0 && !changesChecks) {
      const reasons = blamed.map((check) => brokenWords(check, { examined, fault: faults.get(check)! }));
      return { records: examined.records, reasons, judgement: null, outdated: [] };
    }
    outdated = blamed;
    const rest = checks.filter((check) => !broken.includes(check));
    if (rest.length === 0)
      return { records: [], reasons: [], judgement: null, outdated: outdated.map(toOutdated) };
    // Asked once more for the sake of what defines them: their runs are known.
    ({ examined, faults } = await ask(request.tree, rest));
  }
  const judged = examined.needsReplay ? await referee.replay(attempt, examined, signal) : examined;
  return {
    records: judged.records,
    reasons: refusalOf(judged, baseSha),
    judgement: judged.judgement,
    outdated: outdated.map(toOutdated),
  };
}

export function toOutdated({ bead, command, expect }: EarlierCheck): OutdatedCheck {
  return { bead, command, ...(expect === undefined ? {} : { expect }) };
}

interface Seen {
  examined: ExaminedClaim;
  /** Of those that do not hold, why. */
  faults: Map<EarlierCheck, string>;
}

async function examine(
  referee: Referee,
  attempt: HeldAttempt,
  { tree, baseSha, checks, declared, changesChecks, signal }: Omit<EarlierRequest, 'baseTree'>,
): Promise<Seen> {
  const seen = new Map<EarlierCheck, string>();
  const examined = await referee.examine(
    attempt,
    {
      ...{ tree, commit: null, declared, changesChecks, baseSha, isPart: true },
      commands: [...new Set(checks.map(({ command }) => command))],
      passes({ command, exit, output }) {
        const asked = checks.filter((check) => check.command === command);
        for (const check of asked) {
          const fault = judgeExpect(parseExpect(check.expect), { exit, output });
          if (fault === null) seen.delete(check);
          else seen.set(check, fault);
        }
        return asked.every((check) => !seen.has(check));
      },
    },
    signal,
  );
  const faults = new Map<EarlierCheck, string>();
  for (const command of examined.failed) {
    const asked = checks.filter((check) => check.command === command);
    const told = asked.filter((check) => seen.has(check));
    for (const check of told.length > 0 ? told : asked) faults.set(check, seen.get(check) ?? 'It failed.');
  }
  return { examined, faults };
}

const TAIL_TOLD = 2_000;

function brokenWords(
  { whose, command }: EarlierCheck,
  { examined, fault }: { examined: ExaminedClaim; fault: string },
): string {
  const { outputTail = '' } = examined.records.find((record) => record.command === command) ?? {};
  const said = `${command}: ${fault}\n${outputTail.slice(-TAIL_TOLD)}`.trimEnd();
  return `This breaks the check of ${whose}, which is closed already: ${said}`;
}

/** What else the referee has against it: what defines one of these checks was changed, or it runs no tests any longer. */
function refusalOf({ judgement, heldOut }: ExaminedClaim, baseSha: string): string[] {
  // The held-out checks come last, and have been judged with the bead's own.
  if (judgement.verdict !== 'rejected' || heldOut !== undefined) return [];
  return judgement.reasons.map(
    (reason) => `Of beads that are closed already (at ${baseSha.slice(0, 12)}): ${reason}`,
  );
}

/** A judgement of the beads' own checks, together with that of the earlier ones. */
export function withEarlier(own: Judgement, { judgement: earlier, outdated }: CheckedEarlier): Judgement {
  const both = earlier === null || earlier.trust === 'verified' ? own : together(own, earlier);
  if (outdated.length === 0) return both;
  const ended = outdated.map(({ bead, command }) => `The check of ${bead} no longer holds: ${command}`);
  return {
    ...both,
    trust: 'verified_checks_changed',
    reasons: [...both.reasons, ...ended],
    allowedBy: both.allowedBy ?? 'plan',
  };
}

function together(own: Judgement, earlier: Judgement): Judgement {
  if (own.trust === 'verified') return { ...earlier, base: own.base, notes: own.notes };
  return {
    ...own,
    verdict: earlier.verdict === 'ask' ? 'ask' : own.verdict,
    reasons: [...new Set([...own.reasons, ...earlier.reasons])],
  };
}

function keyOf({ command, expect }: Pick<Check, 'command' | 'expect'>): string {
  return JSON.stringify([command, expect ?? null]);
}
