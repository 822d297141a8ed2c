/** A workflow as people and programs see it: in camelCase, redacted, and its diffs. */
import type * as z from 'zod';
import type { Trust } from '../../../domain/check-words.ts';
import { PulseError } from '../../../domain/errors.ts';
import { unifiedDiff } from '../../../git/diff.ts';
import { headRef } from '../../../git/session-head.ts';
import type { Operations } from '../../../operations/context.ts';
import { viewRow } from '../../../operations/row-view.ts';
import type { Session } from '../../../store/sessions.ts';
import { listStoredBaseline, type StoredBaselineIssue } from '../baseline-rows.ts';
import type { PulseRow } from '../rows.ts';
import { workflowTrust } from '../unresolved.ts';
import { Preflight, Pulse, Workflow } from './view-schema.ts';
import { readWorkflow } from './workflow.ts';

/** So much of a patch is shown; the whole of it is on the branch. */
const DIFF_BYTES = 2 * 1024 * 1024;

export type PulseView = z.output<typeof Pulse>;
export type BaselineView = StoredBaselineIssue;

export interface WorkflowView {
  session: Session;
  /** How far what its pulses have made can be relied on; `null`: none is done. */
  trust: Trust | null;
  workflow: z.output<typeof Workflow>;
  pulses: PulseView[];
  preflight: z.output<typeof Preflight> | null;
}

export async function viewWorkflow(operations: Operations, id: string): Promise<WorkflowView> {
  const { session, workflow, pulses, preflight } = await readWorkflow(operations, id);
  return operations.redactor.redactJson({
    session,
    trust: workflowTrust(session, pulses),
    workflow: viewRow(Workflow, workflow),
    pulses: pulses.map((pulse) => viewRow(Pulse, pulse)),
    preflight: preflight && viewRow(Preflight, preflight),
  });
}

export async function viewBaseline(operations: Operations, id: string): Promise<BaselineView[]> {
  const { workflow } = await readWorkflow(operations, id);
  return operations.redactor.redactJson(
    await operations.engine.store.read((db) => listStoredBaseline(db, workflow.id)),
  );
}

export interface WorkflowDiff {
  /** A patch, cut at a line's end where it is too long. */
  text: string;
  isTruncated: boolean;
  from: string;
  to: string;
}

/** Throws `not_found` when there is no such pulse, or nothing of it in git. */
export async function diffWorkflow(
  operations: Operations,
  id: string,
  pulseId?: string,
): Promise<WorkflowDiff> {
  const { session, pulses } = await readWorkflow(operations, id);
  const range = pulseId === undefined ? wholeRange(session) : pulseRange(session, pulses, pulseId);
  const { git, redactor } = operations;
  const [from, to] = await Promise.all(
    [range.from, range.to].map(async (name) => {
      const found = await git.attempt(['rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
        cwd: session.project_path,
      });
      if (found.code === 0) return found.stdout.toString().trim();
      throw new PulseError('not_found', `${name} is no longer in the repository.`, {
        hint: 'A branch that was deleted takes its commits with it.',
      });
    }),
  );
  const { text, truncated } = await unifiedDiff(git, {
    root: session.project_path,
    from: from!,
    to: to!,
    maxBytes: DIFF_BYTES,
  });
  return { text: redactor.redact(text), isTruncated: truncated, from: from!, to: to! };
}

function wholeRange({ id, base_sha: from, branch_name: branch, branch_lags_at }: Session): {
  from: string;
  to: string;
} {
  return { from, to: branch_lags_at === null ? `refs/heads/${branch}` : headRef(id) };
}

/** What it became; while it runs, what its earlier runs left. */
function pulseRange(session: Session, pulses: readonly PulseRow[], id: string): { from: string; to: string } {
  const pulse =
    pulses.find((row) => row.id === id) ?? pulses.findLast((row) => row.planned_pulse_id === id) ?? null;
  if (!pulse) {
    const known = [...new Set(pulses.map((row) => row.planned_pulse_id))].join(', ');
    throw new PulseError('not_found', `${session.id} has no pulse ${id}.`, { hint: `Its pulses: ${known}.` });
  }
  const { start_sha: from, checkpoint_commit_sha: done, wip_sha: wip } = pulse;
  const to = done ?? wip;
  if (from !== null && to !== null) return { from, to };
  throw new PulseError('not_found', `The pulse ${pulse.planned_pulse_id} has no diff: nothing was kept.`, {
    hint: `It is ${pulse.status}.`,
  });
}
