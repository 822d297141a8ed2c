/** What the last edit of the plan has changed; the event of its approval has the plan as it was. */
import { useMemo } from 'react';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import type { Plan, WorkflowView } from '../api/types.ts';
import { DiffView } from '../diff/diff-view.tsx';
import { Panel } from '../ui/form.tsx';
import { planDiff } from './plan-diff.ts';

/** Of the plan as it is to how it was before its last edit; nothing where it was never edited. */
export function PlanChanges({ view: { session, workflow } }: { view: WorkflowView }) {
  const { data } = useAnswer(['plan versions', session.id, workflow.planVersion], (call) =>
    pulse.history({ id: session.id, types: 'PlanCardResolved', limit: 200 }, call),
  );
  const edit = data?.events.findLast((event) => event.data.replaced !== undefined);
  if (!edit) return null;
  const version = Number(edit.data.planVersion);
  return (
    <Panel title={version > 1 ? `Diff to v${version - 1}` : 'Diff to the draft'}>
      <PlanDiff before={edit.data.replaced as Plan} after={workflow.plan} />
    </Panel>
  );
}

export function PlanDiff({ before, after }: { before: Plan; after: Plan }) {
  const files = useMemo(() => [planDiff(before, after)], [before, after]);
  return <DiffView files={files} />;
}
