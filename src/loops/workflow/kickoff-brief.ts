/** What a pulse's run is told: its scope, the plan, one line for each earlier pulse, the rules. */

import type { SessionState } from '../../engine/loop.ts';
import type { ComposedBrief } from '../../engine/ports.ts';
import type { Store } from '../../store/store.ts';
import { countedBrief, openNotes } from '../shared/brief-tools.ts';
import { buildKickoff } from './kickoff-text.ts';
import { describePreviousRun } from './previous-run.ts';
import type { PulseRow } from './rows.ts';
import type { WorkflowState } from './state.ts';

export interface KickoffInput {
  state: SessionState<WorkflowState>;
  /** As it is in this run. */
  pulse: PulseRow;
  /** Set when the attempt before this one broke off. */
  interruption?: string | null;
}

export type ComposeKickoff = (input: KickoffInput) => Promise<ComposedBrief>;

export async function composeKickoff(
  store: Store,
  { state, pulse, interruption = null }: KickoffInput,
): Promise<ComposedBrief> {
  const { session, control } = state;
  const earlier = await describePreviousRun(store, { state, pulse });
  const { workflow, pulses } = state.own;
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
  return countedBrief({ text, notes, strategy: control.settings.contextStrategy });
}
