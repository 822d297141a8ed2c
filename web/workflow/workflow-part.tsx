/** A workflow beside its session: the plan, the pulses, and what waits for a decision. */
import { useRead } from '../api/queries.ts';
import type { Baseline, Head, Pulse, WorkflowView } from '../api/types.ts';
import { Failure, Loading, Section } from '../ui/parts.tsx';
import { BaselineList } from './baseline.tsx';
import { Extension } from './extension.tsx';
import { reviewOf } from './held-draft.ts';
import { OpenReview } from './open-review.tsx';
import { PlanCard } from './plan-card.tsx';
import { Pulses } from './pulses.tsx';

export default function WorkflowPart({ id, head }: { id: string; head: Head }) {
  const { data, error } = useRead<WorkflowView>(`/api/workflows/${id}`);
  const { data: known } = useRead<{ baseline: Baseline }>(`/api/workflows/${id}/baseline`);
  if (!data) return error ? <Failure error={error} /> : <Loading of="the workflow" />;
  const { session } = head;
  const waits = whatItWaitsFor(data, session);
  return (
    <>
      {waits === 'plan' && <PlanCard view={data} isOpen />}
      {waits === 'review' && <OpenReview key={reviewOf(head.head, data.pulses)} view={data} head={head} />}
      {waits === 'extension' && <Extension view={data} />}
      {data.pulses.length > 0 && waits !== 'plan' && (
        <Section
          title="Pulses"
          aside={
            <>
              <span className="figures">{pulsesDone(data.pulses)}</span> <Preflight view={data} />
            </>
          }
        >
          <Pulses view={data} />
        </Section>
      )}
      {known && known.baseline.length > 0 && <BaselineList id={id} baseline={known.baseline} />}
      {waits !== 'plan' && <PlanCard view={data} isOpen={false} />}
    </>
  );
}

/** Approval is asked for twice: of the plan at the beginning, of the whole at the end. */
export function whatItWaitsFor(
  { workflow }: Pick<WorkflowView, 'workflow'>,
  session: Pick<Head['session'], 'status' | 'stop_reason'>,
): 'plan' | 'review' | 'extension' | null {
  if (session.status !== 'blocked') return null;
  if (session.stop_reason === 'extension_requested') return 'extension';
  if (session.stop_reason === 'merge_conflict') return 'review';
  if (session.stop_reason !== 'approval_required') return null;
  return workflow.approvedAt === null ? 'plan' : 'review';
}

/** A pulse that was begun again has another row: its newest one counts. */
export function pulsesDone(pulses: readonly Pick<Pulse, 'plannedPulseId' | 'status'>[]): string {
  const newest = new Map(pulses.map((pulse) => [pulse.plannedPulseId, pulse.status]));
  const done = [...newest.values()].filter((status) => status === 'succeeded').length;
  return `${done} of ${newest.size} done`;
}

function Preflight({ view: { preflight } }: { view: WorkflowView }) {
  if (!preflight) return null;
  const text = {
    running: preflight.progressMessage,
    failed: preflight.errorMessage,
    completed: preflight.summary,
  };
  const tone = { running: 'tone-working', failed: 'tone-failed', completed: 'dim' }[preflight.status];
  return (
    <span className={`preflight ${tone}`}>
      preflight {preflight.status}
      {text[preflight.status] && `: ${text[preflight.status]}`}
    </span>
  );
}
