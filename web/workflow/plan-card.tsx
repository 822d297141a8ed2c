/** The plan: what a person approves, edits, rejects, or takes along. */
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import type { Plan, WorkflowView } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { Dialog } from '../ui/dialog.tsx';
import { plural } from '../ui/format.ts';
import { Markdown } from '../ui/markdown.tsx';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';
import { At } from '../ui/time.tsx';
import { PlanChanges } from './plan-changes.tsx';
import { PlanEditor } from './plan-editor.tsx';

export function PlanCard({ view, isOpen }: { view: WorkflowView; isOpen: boolean }) {
  const { workflow, session } = view;
  const [isEdited, setIsEdited] = useState(false);
  const [isRejected, setIsRejected] = useState(false);
  const approve = useAction(`/api/workflows/${session.id}/approve`, {
    says: 'The plan is approved',
    onDone: () => setIsEdited(false),
  });
  useActions(isOpen ? [{ label: 'Approve plan', run: () => approve.run({}) }] : []);
  const isOver = session.status === 'complete' || session.status === 'aborted';
  const head = (
    <>
      {workflow.planVersion === 0 ? 'Plan, a draft' : `Plan v${workflow.planVersion}`},{' '}
      {plural(workflow.plan.pulses.length, 'pulse')}
      {workflow.approvedAt && (
        <span className="dim">
          {' '}
          approved by {workflow.approvedBy} <At at={workflow.approvedAt} />
        </span>
      )}
    </>
  );
  const body = isEdited ? (
    <PlanEditor
      plan={workflow.plan}
      isBusy={approve.isBusy}
      onCancel={() => setIsEdited(false)}
      onApprove={(plan) => approve.run({ plan })}
    />
  ) : (
    <>
      {isRejected && <RejectPlan id={session.id} onClose={() => setIsRejected(false)} />}
      <PlanText plan={workflow.plan} />
      <PlanChanges view={view} />
      <p className="row">
        {isOpen && (
          <ActionButton isPrimary disabled={approve.isBusy} onClick={() => approve.run({})}>
            Approve plan
          </ActionButton>
        )}
        {!isOver && <Button onClick={() => setIsEdited(true)}>Edit plan</Button>}
        {isOpen && <Button onClick={() => setIsRejected(true)}>Reject plan</Button>}
        <Button isQuiet onClick={() => downloadPlan(workflow.plan)}>
          Download plan
        </Button>
      </p>
    </>
  );
  if (!isOpen) {
    return (
      <details className="section plan">
        <summary>
          <h2>{head}</h2>
        </summary>
        {body}
        <Failure error={approve.error} />
      </details>
    );
  }
  return (
    <section className="decide tone-edge-needs plan" id="decide">
      <h2>The plan waits for you: {head}</h2>
      {body}
      <Failure error={approve.error} />
    </section>
  );
}

/** JSON is YAML as well: `pulse workflow start plan.json` takes it. */
function downloadPlan(plan: Plan): void {
  const url = URL.createObjectURL(
    new Blob([`${JSON.stringify(plan, null, 2)}\n`], { type: 'application/json' }),
  );
  const link = document.createElement('a');
  link.href = url;
  link.download = 'plan.json';
  link.click();
  URL.revokeObjectURL(url);
}

function RejectPlan({ id, onClose }: { id: string; onClose(): void }) {
  const abort = useAction(`/api/pulse/${id}/abort`, { says: 'The plan is rejected', onDone: onClose });
  return (
    <Dialog label="Reject plan" onClose={onClose}>
      <h2>Reject this plan?</h2>
      <p>The workflow ends: nothing of it was done. To have it otherwise, edit the plan instead.</p>
      <Failure error={abort.error} />
      <p className="dialog-end">
        <Button onClick={onClose}>Keep it</Button>
        <ActionButton className="button-danger" disabled={abort.isBusy} onClick={() => abort.run()}>
          Reject and end
        </ActionButton>
      </p>
    </Dialog>
  );
}

function PlanText({ plan }: { plan: Plan }) {
  return (
    <div className="plan-text">
      {plan.approach && <Markdown text={plan.approach} />}
      <ol className="plan-pulses">
        {plan.pulses.map((pulse) => (
          <li key={pulse.id}>
            <b>{pulse.title}</b> <code className="dim">{pulse.id}</code>
            {pulse.dependsOn && pulse.dependsOn.length > 0 && (
              <span className="dim"> after {pulse.dependsOn.join(', ')}</span>
            )}
            {pulse.changesChecks && <span className="tone-needs"> changes checks</span>}
            <Markdown text={pulse.description} />
            {pulse.expectedChanges && (
              <p className="dim">
                expected:{' '}
                {pulse.expectedChanges.map((path) => (
                  <code key={path}>{path} </code>
                ))}
              </p>
            )}
          </li>
        ))}
      </ol>
      <dl className="facts">
        <div>
          <dt>checks</dt>
          <dd>
            {plan.verify && plan.verify.length > 0 ? (
              plan.verify.map(({ command, source }) => (
                <span key={command}>
                  <code>{command}</code> <span className="dim">({source})</span>{' '}
                </span>
              ))
            ) : (
              <span className="tone-unverified">of the config, or found in the repository</span>
            )}
          </dd>
        </div>
        {plan.preflight && plan.preflight.length > 0 && (
          <div>
            <dt>preflight</dt>
            <dd>
              <code>{plan.preflight.join(' && ')}</code>
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}
