/** Changed checks wait for a person: what was changed, and what the person says to it. */
import { leastTrust } from '../domain/check-words.ts';
import { PulseError } from '../domain/errors.ts';
import type { IdSource } from '../domain/ids.ts';
import { nextCommand } from '../domain/next-command.ts';
import { rulesFor } from '../loops/rules.ts';
import { appendEvents } from '../store/events.ts';
import { type IterationHead, moveIteration, recentIterations } from '../store/iterations.ts';
import { decideJudgement, newestJudgement, type StoredJudgement } from '../store/judgements.ts';
import { getControl, getSession, type Session, updateControl, updateSession } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import { listVerifications, type StoredVerification } from '../store/verifications.ts';
import type { Operations, TransactionHook } from './context.ts';
import { ownSession, type Resumed, resume } from './control.ts';

export interface ChangedChecks {
  session: Session;
  judgement: StoredJudgement;
  /** What the commands said on the claim. */
  verifications: StoredVerification[];
  /** Of the changed checks alone, against the base; cut where it is too long. */
  diff: string;
}

const LONGEST_DIFF = 256 * 1024;

/** The claim that waits for a person, else the newest that the referee judged. Throws `not_found` where there is none. */
export async function viewChangedChecks(operations: Operations, id: string): Promise<ChangedChecks> {
  const { engine, redactor } = operations;
  const { session, judgement, verifications, commit } = await engine.store.read(async (db) => {
    const found = await getSession(db, id);
    const { session: claimant, commit: claimed } = await claimOf(db, found);
    const last = await newestJudgement(db, claimant.id);
    if (!last)
      throw new PulseError('not_found', `No claim of session ${found.id} has been judged yet.`, {
        hint: `pulse status ${found.id} shows where it stands.`,
      });
    const records = await listVerifications(db, claimant.id, last.iteration);
    const own = records.filter(({ attempt }) => attempt === last.attempt);
    const head = claimed ?? (await headAt(db, claimant, last.iteration));
    return { session: found, judgement: last, verifications: own, commit: head };
  });
  const paths = judgement.changes.map(({ path }) => path);
  const base = judgement.base?.commit ?? session.base_sha;
  const diff = commit && paths.length > 0 ? await diffOf(operations, { session, base, commit, paths }) : '';
  return redactor.redactJson({ session, judgement, verifications, diff });
}

/** The claim that waits for a person: the session's, or one's that works for it. */
async function claimOf(db: Db, session: Session): Promise<{ session: Session; commit: string | null }> {
  return (await rulesFor(session.kind).findClaim?.(db, session)) ?? { session, commit: null };
}

async function headAt(db: Db, session: Session, iteration: number): Promise<string | null> {
  const found = await recentIterations(db, session.id, session.current_iteration - iteration + 1);
  const row = found.find(({ iteration_number }) => iteration_number === iteration);
  return row?.commit_hash ?? (await getControl(db, session.id)).head_sha;
}

async function diffOf(
  { git }: Operations,
  { session, base, commit, paths }: { session: Session; base: string; commit: string; paths: string[] },
): Promise<string> {
  const options = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const range = [base, commit];
  const literal = paths.map((path) => `:(top,literal)${path}`);
  const shown = await git.attempt(['diff', ...options, ...range, '--', ...literal], {
    cwd: session.project_path,
  });
  const text = shown.stdout.toString('utf8');
  return text.length > LONGEST_DIFF ? `${text.slice(0, LONGEST_DIFF)}\n[cut]\n` : text;
}

export interface DecisionInput {
  actor: string;
  within?: TransactionHook;
}

/** The claim stands, with its changed checks. */
export function acceptChecks(operations: Operations, id: string, input: DecisionInput): Promise<Resumed> {
  return decideChecks(operations, id, { ...input, verdict: 'accepted' });
}

/** The claim does not stand; the next run is told why. */
export function rejectChecks(
  operations: Operations,
  id: string,
  input: DecisionInput & { text: string },
): Promise<Resumed> {
  return decideChecks(operations, id, { ...input, verdict: 'rejected' });
}

type Decision = DecisionInput & { verdict: 'accepted' | 'rejected'; text?: string };

async function decideChecks(operations: Operations, id: string, decision: Decision): Promise<Resumed> {
  const { store, ids } = operations.engine;
  const session = ownSession(await store.read((db) => getSession(db, id)), commandOf(decision));
  requireAsked(session, decision);
  const { actor, text, within } = decision;
  const { control, claimant } = await store.read(async (db) => ({
    control: await getControl(db, session.id),
    claimant: (await claimOf(db, session)).session,
  }));
  // One that works for it is told by its loop, and nobody beside it.
  const isOwn = claimant.id === session.id;
  return resume(operations, session.id, {
    actor,
    isDecided: true,
    ...(text === undefined || !isOwn ? {} : { answer: text }),
    async within(db, sessionId) {
      await writeDecision(db, { session, claimant: await getSession(db, claimant.id) }, { ...decision, ids });
      // A person's rejection counts as one of the referee's.
      await updateControl(db, sessionId, { window_from: control.window_from });
      await within?.(db, sessionId);
    },
  });
}

async function writeDecision(
  db: Db,
  { session, claimant }: { session: Session; claimant: Session },
  { verdict, actor, text, ids }: Decision & { ids: IdSource },
): Promise<void> {
  const [last] = await recentIterations(db, claimant.id, 1);
  if (!last) return;
  const { iteration_number: iteration, attempt } = last;
  await decideJudgement(db, { sessionId: claimant.id, iteration, attempt }, { verdict, by: actor });
  await moveIteration(db, last as IterationHead, last.status, {
    outcome: verdict === 'accepted' ? 'completed' : 'rejected',
  });
  if (verdict === 'accepted')
    await updateSession(db, session.id, { trust: leastTrust(session.trust, 'verified_checks_changed') });
  await rulesFor(session.kind).decideChecks?.(db, claimant, { verdict, text, ids });
  const type = verdict === 'accepted' ? 'checks.accepted' : 'checks.rejected';
  const data = { actor, ...(text ? { text } : {}) };
  await appendEvents(db, claimant.id, [{ type, iteration, data }]);
  if (claimant.id !== session.id) await appendEvents(db, session.id, [{ type, data }]);
}

function requireAsked(session: Session, decision: Decision): void {
  if (session.status === 'blocked' && session.stop_reason === 'checks_changed') return;
  throw new PulseError(
    'invalid_transition',
    `Session ${session.id} asks nothing about changed checks: it is ${session.status}${session.stop_reason ? ` (${session.stop_reason})` : ''}.`,
    {
      hint:
        nextCommand(session, { isDriven: false })?.command ?? `There is nothing to ${commandOf(decision)}.`,
    },
  );
}

function commandOf({ verdict }: Pick<Decision, 'verdict'>): 'accept' | 'reject' {
  return verdict === 'accepted' ? 'accept' : 'reject';
}
