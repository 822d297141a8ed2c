/** The plan: what a person approves, edits, or leaves. */
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import type { Plan, WorkflowView } from '../api/types.ts';
import { useActions } from '../shell/actions.ts';
import { plural } from '../ui/format.ts';
import { Markdown } from '../ui/markdown.tsx';
import { ActionButton, Button, Failure } from '../ui/parts.tsx';
import { At } from '../ui/time.tsx';
import { PlanEditor } from './plan-editor.tsx';

export function PlanCard({ view, isOpen }: { view: WorkflowView; isOpen: boolean }) {
  const { workflow, session } = view;
  const [isEdited, setIsEdited] = useState(false);
  const approve = useAction(`/api/workflows/${session.id}/approve`, {
    says: 'The plan is approved',
    onDone: () => setIsEdited(false),
  });
  useActions(isOpen ? [{ label: 'Approve plan', run: () => approve.run({}) }] : []);
  const isOver = session.status === 'complete' || session.status === 'aborted';
  const head = (
    <>
      Plan v{workflow.planVersion}, {plural(workflow.plan.pulses.length, 'pulse')}
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
      <PlanText plan={workflow.plan} />
      <p className="row">
        {isOpen && (
          <ActionButton isPrimary disabled={approve.isBusy} onClick={() => approve.run({})}>
            Approve plan
          </ActionButton>
        )}
        {!isOver && <Button onClick={() => setIsEdited(true)}>Edit plan</Button>}
        {isOpen && <span className="hint">To reject it, edit it, or abort the session.</span>}
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
