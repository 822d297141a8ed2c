/** Judges a bead's completion on the real worktree: scope, decisions, hooks, red and green, verify, evidence. */
import { join } from 'node:path';
import type { VerificationRecord } from '../../../domain/attempt.ts';
import { isPulseError } from '../../../domain/errors.ts';
import type { HeldAttempt } from '../../../engine/ports.ts';
import { type JudgingMeans, runCommitHooks, stageUnit } from '../../../engine/workspace/staged-work.ts';
import { writeBelow } from '../../../files/folder.ts';
import type { Git } from '../../../git/exec.ts';
import { treeOf } from '../../../git/git-dir.ts';
import { listTree } from '../../../referee/claim-trees.ts';
import { testMatcher } from '../../../referee/pins/test-files.ts';
import type { Store } from '../../../store/store.ts';
import type { ToolReply } from '../../../tools/contract.ts';
import { decisionIdsIn } from '../files/decisions.ts';
import { evidencePaths, occupiedPaths } from '../files/declared-evidence.ts';
import { type CommandEvidence, evidenceText } from '../files/evidence.ts';
import type { Bead } from '../graph/bead.ts';
import { findBead } from '../graph/rows.ts';
import { type ObservedCheck, runFailingChecks, runRed } from './bead-checks.ts';
import { asAtStart, startWithTests, withText } from './bead-trees.ts';
import { earlierForLanding } from './earlier-checks.ts';
import { reservationReasons } from './edit-rule.ts';
import { runLandChecks } from './land-checks.ts';
import { type Completion, commitSubject, type SaidDone } from './model.ts';
import type { RedRun } from './red-failure.ts';
import { currentTry } from './rows.ts';
import { notTests, outsideScope } from './scope.ts';
import { isUnwritten } from './unwritten-code.ts';
import type { BeadWork } from './work-data.ts';

export interface JudgedBead {
  /** `null`: refused, for these reasons. */
  completion: Completion | null;
  reasons: string[];
  records: VerificationRecord[];
  /** Its commands ran: a failure counts as one of the bead's. */
  isVerified: boolean;
  /** Set where nothing but these files, which it may not change, stands in the way. */
  outside?: string[];
}

export interface BeadJudge {
  completion(
    attempt: HeldAttempt,
    work: BeadWork,
    request: { input: SaidDone; signal: AbortSignal },
  ): Promise<JudgedBead>;
  /** Runs red on what is there now. */
  red(attempt: HeldAttempt, work: BeadWork, signal: AbortSignal): Promise<ToolReply>;
}

export function createBeadJudge(means: JudgingMeans & { store: Store }): BeadJudge {
  return {
    completion: (attempt, work, request) => judgeCompletion(means, attempt, { work, ...request }),
    red: (attempt, work, signal) => judgeRed(means, attempt, { work, signal }),
  };
}

interface CompletionRequest {
  work: BeadWork;
  input: SaidDone;
  signal: AbortSignal;
}

type Means = JudgingMeans & { store: Store };

interface HeldBead extends Bead {
  /** Its test was seen to fail before its code. */
  isRedSeen: boolean;
}

/** The bead as it is now: a person may have widened its scope since the run began, or (`null`) taken it away. */
async function beadOf(
  { store }: Means,
  attempt: HeldAttempt,
  { projectId, beadId }: BeadWork,
): Promise<HeldBead | null> {
  return store.read(async (db) => {
    const one = await currentTry(db, attempt.sessionId);
    const bead = await findBead(db, projectId, beadId);
    return one && bead?.claim?.fence === one.fence ? { ...bead, isRedSeen: one.red_at !== null } : null;
  });
}

const TAKEN_AWAY = 'This bead was closed or given to another meanwhile. Leave it, and end your run.';

async function judgeCompletion(
  means: Means,
  attempt: HeldAttempt,
  { work, input, signal }: CompletionRequest,
): Promise<JudgedBead> {
  const bead = await beadOf(means, attempt, work);
  if (!bead) return refused([TAKEN_AWAY]);
  const unit = { baseSha: work.baseSha, artifacts: [] };
  const staged = await stageUnit(means, attempt, unit);
  const message = commitSubject(bead, input.summary);
  const hooked = await runCommitHooks(means, attempt, { work: unit, staged, message, signal });
  const [usual, ...declared] = evidencePaths(bead.fields, { feature: work.feature, id: bead.id });
  const { files } = hooked.work;
  const outside = outsideScope(
    files.filter((path) => path !== usual && !declared.includes(path)),
    bead.fields.files ?? [],
  );
  const scope = scopeReasons(outside);
  const asked = { id: bead.id, cwd: attempt.spec.projectPath, tree: hooked.work.tree, paths: declared };
  const occupied = await occupiedPaths(means.git, asked);
  const reasons = [
    ...hooked.failures,
    ...scope,
    ...evidenceReasons(occupied),
    ...(await means.store.read((db) => reservationReasons(db, work, files))),
    ...decisionReasons(bead, input),
    ...redReasons(bead, work),
  ];
  const verification = { bead, work, input, signal, staged: hooked.work, reasons, occupied };
  const judged = await verify(means, attempt, verification);
  const isOutsideAlone = scope.length > 0 && judged.reasons.length === scope.length;
  return isOutsideAlone ? { ...judged, outside } : judged;
}

/**
 * The worktree is as the commit will be, so that nothing in it looks left behind. The agent may still be at work there:
 * no link is followed, and one that is in the way is left alone.
 */
async function showEvidence(worktree: string, { path, text }: { path: string; text: string }): Promise<void> {
  await writeBelow(worktree, join(worktree, path), text).catch((error: unknown) => {
    if (!isPulseError(error, 'unsafe_file')) throw error;
  });
}

/**
 * Where Pulse writes itself the agent has to leave nothing, nor a file or a link in the place of a folder. What an earlier
 * bead_done has written may lie there, or what the agent took for evidence: it is not looked at.
 */
function evidenceReasons(occupied: readonly string[]): string[] {
  return occupied.map(
    (path) => `${path} is where Pulse writes the evidence of this bead: undo your change of it.`,
  );
}

function refused(
  reasons: string[],
  { records = [], isVerified = false }: Partial<Pick<JudgedBead, 'records' | 'isVerified'>> = {},
): JudgedBead {
  return { completion: null, reasons, records, isVerified };
}

function scopeReasons(outside: readonly string[]): string[] {
  if (outside.length === 0) return [];
  const told = `${outside.slice(0, 20).join(', ')}${outside.length > 20 ? ` and ${outside.length - 20} more` : ''}`;
  return [
    `Changed outside of the bead's files: ${told}. Undo that, or ask with request_scope and wait for the answer.`,
  ];
}

/** Every decision of the bead, also one that only its text names, was looked at once more. */
function decisionReasons({ fields }: Bead, { decisions }: SaidDone): string[] {
  if (decisions === null) return [];
  const told = new Set(decisions.flatMap(({ id }) => [id, ...decisionIdsIn(id)]));
  const refs = (fields.decision_refs ?? []).flatMap((ref) => {
    const ids = decisionIdsIn(ref);
    return ids.length > 0 ? ids : [ref];
  });
  const missing = [...new Set(refs)].filter((id) => !told.has(id));
  if (missing.length === 0) return [];
  return [`Say in decisions how the work honours ${missing.join(', ')}.`];
}

/** A test that is written together with its code was never seen to fail. */
function redReasons({ fields, isRedSeen }: HeldBead, { baseSha }: BeadWork): string[] {
  if (isRedSeen || !stepsOf(fields)) return [];
  return [
    `This bead is tdd-required, and tdd_red has not seen its test fail. Keep a copy of your production changes outside of the worktree (in $TMPDIR), put those files back as they were (git checkout ${baseSha.slice(0, 12)} -- FILES; remove new ones), so that only tests are changed. Call tdd_red. After its ok bring the changes back, and go on.`,
  ];
}

function stepsOf({ testing_mode: mode, tdd_steps: steps }: Bead['fields']) {
  return mode === 'tdd-required' ? steps : undefined;
}

interface Verification extends CompletionRequest {
  bead: HeldBead;
  staged: { tree: string; files: string[]; leftOut?: string[] };
  /** Why it is refused already: what its commands say is told with that, and nothing more is asked. */
  reasons: readonly string[];
  /** Declared for evidence, and not the host's to clear. */
  occupied: readonly string[];
}

async function verify(
  means: Means,
  attempt: HeldAttempt,
  { bead, work, input, signal, staged, reasons, occupied }: Verification,
): Promise<JudgedBead> {
  const { referee, git } = means;
  const { baseSha, feature } = work;
  const cwd = attempt.spec.projectPath;
  const steps = stepsOf(bead.fields);
  const [path, ...declared] = evidencePaths(bead.fields, { feature, id: bead.id });
  // No check may pass by what lies where Pulse writes itself.
  const cleared = declared.filter((each) => !occupied.includes(each));
  const claimed = await asAtStart(git, { cwd, baseSha, tree: staged.tree, paths: cleared });
  const red = await replayRed(means, attempt, { bead, work, signal, claimed });
  const green = steps ? [{ command: steps.green }] : [];
  const checks = [...green, ...(bead.fields.verify ?? [])];
  const { sessionId } = attempt;
  const request = { tree: claimed, baseSha, signal, checks, declared: input.checksChanged ?? [] };
  const before = [...reasons, ...(red?.fault ? [red.fault] : [])];
  if (before.length > 0) {
    const failed = await runFailingChecks(referee, attempt, request);
    const isVerified = red?.fault != null || failed.reasons.length > 0;
    const records = [...(red ? [red.record] : []), ...failed.records];
    return refused([...before, ...failed.reasons], { records, isVerified });
  }
  const checked = await runLandChecks(referee, attempt, {
    ...request,
    earlier: await means.store.read((db) => earlierForLanding(db, { sessionId, baseSha })),
    baseTree: () => treeOf(git, { cwd, commit: baseSha }),
    changesChecks: bead.fields.changesChecks,
  });
  const { records } = checked;
  if (checked.reasons.length > 0) return refused(checked.reasons, { records, isVerified: true });
  const { reports = {} } = attempt.spec.referee ?? {};
  const seen = checked.seen.map((check) => commandEvidence(check, { records, reports }));
  const text = evidenceText({
    ...{ bead, feature, testingMode: bead.fields.testing_mode ?? 'standard' },
    at: new Date().toISOString(),
    commands: seen.slice(green.length),
    tdd: red && { red: red.evidence, green: seen[0]! },
  });
  const paths = [path, ...declared];
  const tree = await withText(git, { cwd, tree: claimed, paths, text });
  for (const each of paths) await showEvidence(attempt.spec.worktreePath, { path: each, text });
  const { summary, decisions, followUps } = input;
  return {
    completion: {
      ...{ summary: summary.trim().split('\n')[0]!, decisions: decisions ?? [], followUps },
      ...{ tree, evidence: path, judgement: checked.judgement },
      ...(declared.length > 0 ? { alsoEvidence: declared } : {}),
      ...(staged.leftOut?.length ? { leftOut: staged.leftOut } : {}),
      ...(checked.outdated.length > 0 ? { outdated: checked.outdated } : {}),
    },
    reasons: [],
    records,
    isVerified: true,
  };
}

interface ReplayedRed {
  record: VerificationRecord;
  /** `null`: it fails as it must. */
  fault: string | null;
  evidence: CommandEvidence;
}

/** Red once more, on the bead's start with its tests. `null`: the bead has none, or it was never seen. */
async function replayRed(
  { referee, git }: Means,
  attempt: HeldAttempt,
  { bead, work, signal, claimed }: { bead: HeldBead; work: BeadWork; signal: AbortSignal; claimed: string },
): Promise<ReplayedRed | null> {
  const steps = stepsOf(bead.fields);
  if (!steps || !bead.isRedSeen) return null;
  const { baseSha } = work;
  const cwd = attempt.spec.projectPath;
  const isTest = testMatcher(attempt.spec.referee?.tests);
  const tree = await startWithTests(git, { cwd, baseSha, tree: claimed, isTest });
  const areUnwritten = unwrittenIn(git, { cwd, bead, tree, isTest, written: claimed });
  const { record, fault } = await runRed(referee, attempt, {
    ...{ tree, baseSha, ...steps, areUnwritten, signal },
  });
  const { exit, outputTail: observed } = record;
  return {
    record: fault === null ? record : { ...record, passed: false },
    fault: fault === null ? null : `Red, on the bead's start with its tests: ${steps.red}: ${fault}`,
    evidence: {
      ...{ command: steps.red, exit, expected: steps.expect ?? 'a failing test', observed, hasPassed: true },
    },
  };
}

interface UnwrittenRequest {
  cwd: string;
  bead: Bead;
  tree: string;
  isTest(path: string): boolean;
  written?: string;
}

/** `written`: the tree of the finished work, where there is one. Lists trees only when it is asked. */
function unwrittenIn(
  git: Git,
  { cwd, bead, tree, isTest, written }: UnwrittenRequest,
): RedRun['areUnwritten'] {
  const pathsOf = async (of: string) => new Set((await listTree(git, { cwd, tree: of })).keys());
  return async (missing) => {
    const query = {
      ...{ files: bead.fields.files ?? [], paths: await pathsOf(tree), isTest },
      ...(written === undefined ? {} : { written: await pathsOf(written) }),
    };
    return missing.some((one) => isUnwritten(one, query));
  };
}

function commandEvidence(
  { command, expect, exit, fault, report }: ObservedCheck,
  { records, reports }: { records: readonly VerificationRecord[]; reports: Record<string, string> },
): CommandEvidence {
  const observed = records.find((record) => record.command === command)?.outputTail ?? '';
  const written = report ?? reports[command];
  const artifacts = written === undefined ? [] : [written];
  return { command, exit, expected: expect ?? null, observed, hasPassed: fault === null, artifacts };
}

async function judgeRed(
  means: Means,
  attempt: HeldAttempt,
  { work, signal }: { work: BeadWork; signal: AbortSignal },
): Promise<ToolReply> {
  const bead = await beadOf(means, attempt, work);
  if (!bead) return { ok: false, output: TAKEN_AWAY, reasons: [TAKEN_AWAY] };
  const { tdd_steps: steps } = bead.fields;
  if (!steps)
    return { ok: false, output: 'This bead has no tdd_steps.', reasons: ['its testing_mode is standard'] };
  const staged = await stageUnit(means, attempt, { baseSha: work.baseSha, artifacts: [] });
  const { tests } = attempt.spec.referee ?? {};
  const others = notTests(staged.files, tests);
  if (others.length > 0)
    return {
      ok: false,
      output: 'Only tests may change before red is seen. Undo the rest, and call tdd_red again.',
      reasons: others.map((path) => `${path} is no test file`),
    };
  const { tree } = staged;
  const { git } = means;
  const cwd = attempt.spec.projectPath;
  const areUnwritten = unwrittenIn(git, { cwd, bead, tree, isTest: testMatcher(tests) });
  const { fault, record } = await runRed(means.referee, attempt, {
    ...{ tree, baseSha: work.baseSha, ...steps, areUnwritten, signal },
  });
  if (fault !== null)
    return { ok: false, output: `${steps.red}: ${fault}\n${record.outputTail}`, reasons: [fault] };
  return { ok: true, output: 'Red is seen. Now write the production code, then call bead_done.' };
}
