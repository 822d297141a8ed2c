/** What an experiment's run is told: the review of what was tried, the order of ideas, and a crash to mend. */

import type { SessionState } from '../../../engine/loop.ts';
import type { ComposedBrief } from '../../../engine/ports.ts';
import type { Note } from '../../../store/notes.ts';
import type { Session } from '../../../store/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { countedBrief, openNotes } from '../../shared/brief-tools.ts';
import { buildResearchBrief } from '../brief-text.ts';
import { ANTI_PATTERNS, PRIORITIES, triesVariantsOnly } from '../ideas/ideation.ts';
import { createStrategyMarks, type StrategyMarks } from '../ideas/strategy-marks.ts';
import { type RowStatus, STUCK_STEPS, stuckAfter } from '../ideas/stuck.ts';
import { CRASH_POLICIES, type CrashKind } from '../measure/crash.ts';
import { scopeMatcher } from '../measure/scope.ts';
import { isGuardFailure } from '../measure/violations.ts';
import { formatFigure } from '../report/figures.ts';
import { rowsOf } from '../report/result-rows.ts';
import { resultsFile } from '../report/results.ts';
import { type Experiment, endsSinceBest, newestDecided, reasonsOf } from '../rows.ts';
import type { ResearchState } from '../state.ts';

export interface ExperimentBriefInput {
  state: SessionState<ResearchState>;
  number: number;
  /** Set when it is continued. */
  experiment: Experiment | null;
  /** Set when the attempt before this one broke off. */
  interruption?: string | null;
}

export type ComposeExperimentBrief = (input: ExperimentBriefInput) => Promise<ComposedBrief>;

export interface ExperimentBriefOptions {
  store: Store;
  /** The newest commits of the session's branch, and the files that are wanted, as far as `maxBytes` reach. */
  review(
    session: Session,
    wanted: { sha: string; isWanted(path: string): boolean; maxBytes: number },
  ): Promise<ReviewMaterial>;
}

export interface ReviewMaterial {
  log: string;
  files: { path: string; text: string }[];
  /** Matched, but too large to show. */
  more: string[];
}

/** The rest of the brief, beside the in-scope files. */
const FILE_BYTES = 48 * 1024;
const ROWS_SHOWN = 20;
const GUARDED_SHOWN = 2;

export function createExperimentBriefs({ store, review }: ExperimentBriefOptions): ComposeExperimentBrief {
  const marks = createStrategyMarks(store);
  return async (input) => {
    const notes = await openNotes(store, input.state);
    const text = await composeText({ store, review, marks, notes }, input);
    return countedBrief({ text, notes, strategy: input.state.control.settings.contextStrategy });
  };
}

async function composeText(
  { store, review, marks, notes }: ExperimentBriefOptions & { marks: StrategyMarks; notes: readonly Note[] },
  { state, number, experiment, interruption = null }: ExperimentBriefInput,
): Promise<string> {
  const { control } = state;
  const { research, file, lead: session, bestSha } = state.own;
  const { newest, ends, reasons } = await store.read(async (db) => {
    const decided = await newestDecided(db, research, ROWS_SHOWN);
    const discarded = decided.filter(({ status }) => status === 'discard').map((row) => row.number);
    return {
      newest: decided,
      ends: await endsSinceBest(db, research),
      reasons: await reasonsOf(db, research.session_id, discarded),
    };
  });
  const rows = rowsOf(session, research, newest);
  const sha = experiment?.start_sha ?? bestSha;
  const material = await review(session, {
    sha,
    isWanted: scopeMatcher(file.scope),
    maxBytes: FILE_BYTES,
  });
  const stuck = stuckAfter(ends as RowStatus[]);
  const last = newest[0];
  const crashed = last?.status === 'crash' ? (last.crashes.at(-1) as CrashKind | undefined) : undefined;
  const { metric } = file;
  const isBroken = experiment !== null && experiment.crashes.length > 0;
  return buildResearchBrief({
    goal: file.goal,
    number,
    iterations: research.iterations,
    metric: {
      name: metric.name,
      direction: metric.direction,
      command: metric.verifyCommand,
      best: formatFigure(research.best ?? Number.NaN),
      baseline: formatFigure(research.baseline ?? Number.NaN),
      target: metric.target === undefined ? null : formatFigure(metric.target),
    },
    scope: file.scope,
    results: resultsFile(metric.direction, rows.slice(-ROWS_SHOWN)),
    log: material.log,
    files: material.files,
    moreFiles: material.more,
    strategy: await marks.of(session.id, file.strategy),
    priorities: PRIORITIES,
    antiPatterns: ANTI_PATTERNS,
    onlyVariants: triesVariantsOnly(number, research.iterations),
    hasKept: research.best_experiment !== null,
    stuck: stuck && [...STUCK_STEPS.slice(0, 3), STUCK_STEPS[stuck.approach]!],
    advice: crashed ? CRASH_POLICIES[crashed].advice : null,
    guarded: reasons
      .filter(({ reason }) => isGuardFailure(reason ?? ''))
      .slice(0, GUARDED_SHOWN)
      .map(({ number: failed, description, reason }) => ({ number: failed, description, output: reason! })),
    crash: isBroken ? { description: experiment.description, output: experiment.reason ?? '' } : null,
    begun: !isBroken && experiment?.wip_sha ? experiment.description : null,
    interruption,
    answer: control.answer,
    notes: notes.map(({ text }) => text),
  });
}
