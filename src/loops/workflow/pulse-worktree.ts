/** A pulse's branch, and what is judged of its worktree. */
import type { Identity, VerificationRecord } from '../../domain/attempt.ts';
import type { DeclaredChange, Judgement } from '../../domain/judgement.ts';
import type { HeldAttempt, OnCommand } from '../../engine/ports.ts';
import {
  type HookResult,
  type JudgingMeans,
  runCommitHooks,
  type StagedWork,
  stageUnit,
} from '../../engine/workspace/staged-work.ts';
import { advanceBranch } from '../../git/refs.ts';
import type { Session } from '../../store/sessions.ts';
import { runPulseChecks } from './checks/pulse-checks.ts';
import type { BaselineIssue, Check, PreflightReport } from './model.ts';
import { readBaseline } from './preflight-baseline.ts';
import { giveUpPulse } from './pulse-refs.ts';
import type { PulseRow } from './rows.ts';
import type { PulseWork } from './work-data.ts';

/** Every method may be called again after a crash. */
export interface PulseWorktree {
  /** Makes the pulse's branch at its start. */
  open(session: Session, pulse: { branch: string; at: string }): Promise<void>;
  /** The pulse was never begun: its branch goes. */
  drop(session: Session, pulse: PulseRow): Promise<void>;
  /** Puts what the pulse has onto its own branch as a recovery checkpoint. `null` where it has nothing. */
  giveUp(session: Session, ending: GivenUpPulse): Promise<string | null>;
  /** Runs the checks on an untouched tree and says what was there before: issues, and untracked files. */
  baseline(
    attempt: HeldAttempt,
    request: { checks: readonly Check[]; onCommand?: OnCommand },
    signal: AbortSignal,
  ): Promise<PreflightReport>;
  /** The worktree as it is now, without what preflight left. */
  stage(attempt: HeldAttempt, work: PulseWork): Promise<StagedWork>;
  /** The repository's pre-commit and commit-msg hooks. What each that failed printed. */
  runHooks(
    attempt: HeldAttempt,
    request: { work: PulseWork; staged: StagedWork; message: string },
    signal: AbortSignal,
  ): Promise<HookResult>;
  /** Has the referee run the checks on the tree, and judge what it does to them. */
  runChecks(attempt: HeldAttempt, request: PulseClaim, signal: AbortSignal): Promise<JudgedChecks>;
}

export interface GivenUpPulse {
  pulse: PulseRow;
  taskId: string | null;
  /** The commit that holds what it has. */
  work: string | null;
  reason: string;
  isOver: boolean;
  identity: Identity | null;
}

export interface PulseClaim {
  checks: readonly Check[];
  tree: string;
  baseSha: string;
  baseline: readonly BaselineIssue[];
  declared: readonly DeclaredChange[];
  changesChecks: boolean;
  /** Others follow it: what the held-out checks said before it, they may say still. */
  isPart: boolean;
}

export interface JudgedChecks {
  results: CheckResult[];
  heldOut: readonly VerificationRecord[];
  judgement: Judgement;
}

export interface CheckResult {
  record: VerificationRecord;
  /** What lies beyond the baseline, in words; nothing: the check passes. */
  newIssues: string[];
  beyond: BaselineIssue[];
}

/** On the real ones. */
export function createPulseWorktree(means: JudgingMeans): PulseWorktree {
  const { git } = means;
  return {
    open: ({ project_path: root }, { branch, at }) =>
      advanceBranch(git, { root, branch, from: null, to: at }),

    async drop(session, pulse) {
      const nothing = { taskId: null, work: null, reason: '', isOver: true, identity: null };
      await giveUpPulse(git, { ...refsOf(session, pulse), ...nothing });
    },

    giveUp: (session, { pulse, ...ending }) => giveUpPulse(git, { ...refsOf(session, pulse), ...ending }),

    baseline: (attempt, request, signal) => readBaseline(means, attempt, { ...request, signal }),

    stage: (attempt, work) => stageUnit(means, attempt, work),

    runHooks: (attempt, request, signal) => runCommitHooks(means, attempt, { ...request, signal }),

    runChecks: (attempt, request, signal) => runPulseChecks(means, attempt, { ...request, signal }),
  };
}

function refsOf(
  { project_path: root, id: sessionId }: Session,
  { planned_pulse_id: id, pulse_branch: branch, start_sha: startSha }: PulseRow,
) {
  return { root, sessionId, pulse: { id, branch: branch!, startSha: startSha! } };
}
