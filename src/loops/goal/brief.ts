/** The brief of an iteration, from the store's facts: anchor, last outcome, progress. */
import { accountSections, buildIterationPrompt } from '../../context/brief.ts';
import type { LastOutcome } from '../../context/brief-sections.ts';
import { type ContextMeans, gatherContext, isTold } from '../../context/iteration-context.ts';
import { hasContextTools, isPrefetched } from '../../domain/context-words.ts';
import { failedOnBaseOf, failedOnBaseText } from '../../domain/failed-on-base.ts';
import type { ComposedBrief } from '../../engine/ports.ts';
import { newestOnBase } from '../../store/events.ts';
import type { IterationHead } from '../../store/iterations.ts';
import { listJudgements } from '../../store/judgements.ts';
import { notesFor } from '../../store/notes.ts';
import type { Session, SessionControl } from '../../store/sessions.ts';
import type { Store } from '../../store/store.ts';
import { listVerifications } from '../../store/verifications.ts';
import { composedContext, countTokens } from '../shared/brief-tools.ts';
import { stagnantInARow } from '../shared/stagnation.ts';

export interface BriefInput {
  session: Session;
  control: SessionControl;
  recent: readonly IterationHead[];
  iteration: number;
  attempt: number;
  /** Set when the attempt before this one was interrupted or crashed and its leftovers were kept. */
  recoveryRef: string | null;
  interruption: string | null;
  isDiagnostic: boolean;
  asksConfirmation: boolean;
}

export type ComposeBrief = (input: BriefInput) => Promise<ComposedBrief>;

export async function composeBrief(means: ContextMeans, input: BriefInput): Promise<ComposedBrief> {
  const { store } = means;
  const { session, control, recent } = input;
  const strategy = control.settings.contextStrategy;
  // Without context only the anchor is looked for, and by words: nothing else of it works for this run.
  const context = await gatherContext(strategy === 'none' ? { store } : means, {
    goal: session.goal,
    projectId: control.project_id,
    sessionId: session.id,
    chained: recent[0]?.anchor_hint_next ?? null,
    explicit: session.anchor_turn_id,
    isPrefetched: isPrefetched(strategy),
  });
  const { anchor, turns } = context;
  const turn = anchor.turn && isTold(anchor.turn, session.id) ? { ...anchor.turn, content: '' } : anchor.turn;
  const notes = await store.read((db) => notesFor(db, session.id, input.iteration));
  const brief = buildIterationPrompt({
    goal: session.goal,
    iteration: input.iteration,
    maxIterations: session.max_iterations,
    branch: session.branch_name,
    verify: session.verify,
    failedOnBase: await failedOnBase(store, session.id),
    answer: control.answer,
    notes: notes.map(({ text }) => text),
    lastOutcome: await lastOutcome(store, input),
    progress: session.progress_log.map((entry) => ({ ...entry, summary: entry.summary ?? '' })),
    context:
      isPrefetched(strategy) && anchor.strategy && turn
        ? { strategy: anchor.strategy, turn, more: turns }
        : null,
    hasContextTools: hasContextTools(strategy),
    stagnation: input.isDiagnostic ? stagnation(recent, control.window_from) : null,
    countTokens: await countTokens(),
  });
  return {
    text: brief.text,
    tokens: brief.tokens,
    sections: accountSections(brief.sections),
    notes: notes.map(({ id }) => id),
    ...composedContext(context),
  };
}

async function lastOutcome(store: Store, input: BriefInput): Promise<LastOutcome | null> {
  const { recent, recoveryRef, interruption, asksConfirmation } = input;
  if (interruption !== null) return { kind: 'interrupted', recoveryRef };
  if (asksConfirmation) return { kind: 'unconfirmed' };
  const last = recent[0];
  if (!last) return null;
  switch (last.outcome) {
    case 'rejected':
      return {
        kind: 'rejected',
        failures: await failures(store, last),
        reasons: await reasons(store, last),
      };
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

async function failedOnBase(store: Store, sessionId: string): Promise<string[]> {
  const told = await store.read((db) => newestOnBase(db, sessionId));
  return told === null ? [] : failedOnBaseOf(told.data).map(failedOnBaseText);
}

async function failures(store: Store, last: IterationHead) {
  const records = await store.read((db) => listVerifications(db, last.session_id, last.iteration_number));
  // What a held-out check may tell is among the reasons.
  const told = records.filter(({ isHeldOut }) => !isHeldOut);
  return told.filter((record) => !record.passed && record.attempt === last.attempt);
}

async function reasons(store: Store, last: IterationHead): Promise<string[]> {
  const found = await store.read((db) => listJudgements(db, last.session_id, last.iteration_number));
  return found.findLast(({ attempt }) => attempt === last.attempt)?.reasons ?? [];
}

function stagnation(recent: readonly IterationHead[], windowFrom: number) {
  const iterations = stagnantInARow(recent, windowFrom);
  const isSilent = recent.slice(0, iterations).every((it) => it.commit_hash === null);
  const reason = isSilent ? 'no file was changed' : 'the changes led back to states seen before';
  return { iterations, reason };
}
