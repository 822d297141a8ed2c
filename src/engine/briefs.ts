/** Briefs from the store's facts: anchor, last outcome, progress (contract 2). */
import { type Anchor, resolveAnchor } from '../context/anchors.ts';
import { buildIterationPrompt } from '../context/brief.ts';
import type { LastOutcome } from '../context/brief-sections.ts';
import { buildKickoff } from '../context/kickoff.ts';
import { buildResearchBrief } from '../context/research-brief.ts';
import { loadTokenCounter, type TokenCounter } from '../context/tokens.ts';
import { isGuardFailure } from '../research/caught.ts';
import { CRASH_POLICIES, type CrashKind } from '../research/crash.ts';
import { formatFigure } from '../research/figures.ts';
import { ANTI_PATTERNS, PRIORITIES, triesVariantsOnly } from '../research/ideation.ts';
import { resultsFile } from '../research/results.ts';
import { scopeMatcher } from '../research/scope.ts';
import { type RowStatus, STUCK_STEPS, stuckAfter } from '../research/stuck.ts';
import type { IterationHead } from '../store/iterations.ts';
import { type Note, notesFor } from '../store/notes.ts';
import { endsSinceBest, newestDecided, reasonsOf } from '../store/research.ts';
import type { Store } from '../store/store.ts';
import { findTurn, newestTurn } from '../store/turns.ts';
import { listVerifications } from '../store/verifications.ts';
import { plainBrief } from './brief-again.ts';
import { stagnantInARow } from './governor.ts';
import type { SessionState } from './loop.ts';
import type { BriefInput, Briefs, ExperimentBriefInput, Workspace } from './ports.ts';
import { rowsOf } from './research-rows.ts';
import { runBefore } from './run-before.ts';
import { createStrategyMarks, type StrategyMarks } from './strategy-marks.ts';
import { turnOf } from './turns.ts';

export interface BriefsOptions {
  store: Store;
  workspace: Pick<Workspace, 'review'>;
}

export function createBriefs(options: BriefsOptions): Briefs {
  const { store } = options;
  const marks = createStrategyMarks(store);
  let counter: Promise<TokenCounter> | null = null;
  return {
    async compose(input) {
      counter ??= loadTokenCounter();
      const { session, control, recent } = input;
      const isPrefetched = ['prefetch', 'hybrid'].includes(control.settings.contextStrategy);
      const anchor = await anchorOf(store, input);
      const notes = await store.read((db) => notesFor(db, session.id, input.iteration));
      const brief = buildIterationPrompt({
        goal: session.goal,
        iteration: input.iteration,
        maxIterations: session.max_iterations,
        branch: session.branch_name,
        verify: session.verify,
        answer: control.answer,
        notes: notes.map(({ text }) => text),
        lastOutcome: await lastOutcome(store, input),
        progress: session.progress_log.map((entry) => ({ ...entry, summary: entry.summary ?? '' })),
        context:
          isPrefetched && anchor.strategy && anchor.turn
            ? { strategy: anchor.strategy, turn: anchor.turn }
            : null,
        stagnation: input.isDiagnostic ? stagnation(recent, control.window_from) : null,
        countTokens: await counter,
      });
      return {
        text: brief.text,
        tokens: brief.tokens,
        notes: notes.map(({ id }) => id),
        anchor: {
          turnId: anchor.turn?.id ?? null,
          strategy: anchor.strategy,
          resolutionMs: anchor.resolutionMs,
          salience: anchor.salience,
          depth: anchor.depth,
          invalid: anchor.invalid,
        },
      };
    },

    async kickoff({ state, pulse, interruption = null }) {
      counter ??= loadTokenCounter();
      const { session, control } = state;
      const earlier = await runBefore(store, { state, pulse });
      const { workflow, pulses } = state.workflow!;
      const notes = await openNotes(store, state);
      const planned = workflow.plan.pulses.find(({ id }) => id === pulse.planned_pulse_id);
      const text = buildKickoff({
        title: workflow.plan.title,
        approach: workflow.plan.approach ?? null,
        pulse: {
          id: pulse.planned_pulse_id,
          title: pulse.title,
          description: planned?.description ?? pulse.comments ?? '',
          expectedChanges: planned?.expectedChanges ?? [],
          comments: pulse.comments,
        },
        others: pulses
          .filter(({ id }) => id !== pulse.id)
          .map(({ planned_pulse_id: id, title, status, description }) => ({
            id,
            title,
            status,
            description,
          })),
        branch: session.branch_name,
        run: pulse.runs,
        checks: workflow.checks.map(({ command }) => command),
        answer: control.answer,
        notes: notes.map(({ text }) => text),
        before: [earlier, interruption].filter((text) => text !== null).join('\n\n') || null,
      });
      return { ...plainBrief(text), tokens: (await counter)(text), notes: notes.map(({ id }) => id) };
    },

    async experiment(input) {
      counter ??= loadTokenCounter();
      const notes = await openNotes(store, input.state);
      const text = await composeExperiment({ ...options, marks, notes }, input);
      return { ...plainBrief(text), tokens: (await counter)(text), notes: notes.map(({ id }) => id) };
    },
  };
}

/** Those for the iteration in hand, or for the one that is about to begin. */
function openNotes(store: Store, { session, live }: SessionState): Promise<Note[]> {
  const iteration = live?.iteration.iteration_number ?? session.current_iteration + 1;
  return store.read((db) => notesFor(db, session.id, iteration));
}

/** The rest of the brief, beside the in-scope files. */
const FILE_BYTES = 48 * 1024;
const ROWS_SHOWN = 20;
const GUARDED_SHOWN = 2;

async function composeExperiment(
  { store, workspace, marks, notes }: BriefsOptions & { marks: StrategyMarks; notes: readonly Note[] },
  { state, number, experiment, interruption = null }: ExperimentBriefInput,
): Promise<string> {
  const { control } = state;
  const { research, file, lead: session, bestSha } = state.research!;
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
  const review = await workspace.review(session, {
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
    log: review.log,
    files: review.files,
    moreFiles: review.more,
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

function anchorOf(store: Store, { session, control, recent }: BriefInput): Promise<Anchor> {
  return store.read((db) =>
    resolveAnchor({
      chained: recent[0]?.anchor_hint_next ?? null,
      explicit: session.anchor_turn_id,
      goal: session.goal,
      projectId: control.project_id,
      lookup: {
        byId: async (id) => optional(await findTurn(db, id)),
        mostRecent: async (projectId) => optional(await newestTurn(db, { projectId })),
      },
      nowMs: () => performance.now(),
    }),
  );
}

function optional(row: Parameters<typeof turnOf>[0] | null) {
  return row && turnOf(row);
}

async function lastOutcome(store: Store, input: BriefInput): Promise<LastOutcome | null> {
  const { recent, recoveryRef, interruption, asksConfirmation } = input;
  if (interruption !== null) return { kind: 'interrupted', recoveryRef };
  if (asksConfirmation) return { kind: 'unconfirmed' };
  const last = recent[0];
  if (!last) return null;
  switch (last.outcome) {
    case 'rejected':
      return { kind: 'rejected', failures: await failures(store, last) };
    case 'timeout':
      return {
        kind: 'timeout',
        limit: last.failure_class === 'timeout_idle' ? 'idle' : 'hard',
        recoveryRef: null,
      };
    case 'blocked':
      return { kind: 'blocked', reason: input.session.progress_log.at(-1)?.reason ?? null };
    case 'crashed':
      return { kind: 'interrupted', recoveryRef };
    default:
      return { kind: 'continued', summary: last.output_summary, commit: last.commit_hash };
  }
}

async function failures(store: Store, last: IterationHead) {
  const records = await store.read((db) => listVerifications(db, last.session_id, last.iteration_number));
  return records.filter((record) => !record.passed && record.attempt === last.attempt);
}

function stagnation(recent: readonly IterationHead[], windowFrom: number) {
  const iterations = stagnantInARow(recent, windowFrom);
  const isSilent = recent.slice(0, iterations).every((it) => it.commit_hash === null);
  const reason = isSilent ? 'no file was changed' : 'the changes led back to states seen before';
  return { iterations, reason };
}
