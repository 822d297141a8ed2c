/** Editing a plan: its pulses one by one, or the whole as JSON. Pulse says what is wrong with it. */
import { type FormEvent, useState } from 'react';
import type { Plan } from '../api/types.ts';
import { ActionButton, Button } from '../ui/parts.tsx';

interface PlanEditorProps {
  plan: Plan;
  isBusy: boolean;
  onApprove(plan: Plan): void;
  onCancel(): void;
}

type Planned = Plan['pulses'][number];

export function PlanEditor({ plan: before, isBusy, onApprove, onCancel }: PlanEditorProps) {
  const [plan, setPlan] = useState(before);
  const [json, setJson] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const setPulses = (pulses: Planned[]): void => setPlan({ ...plan, pulses });
  const change = (index: number, part: Partial<Planned>): void =>
    setPulses(plan.pulses.map((pulse, at) => (at === index ? { ...pulse, ...part } : pulse)));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      onApprove(json === null ? plan : (JSON.parse(json) as Plan));
      setFault(null);
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <form className="plan-editor stack" onSubmit={submit}>
      {json === null ? (
        <>
          <label>
            Approach
            <textarea
              rows={3}
              value={plan.approach ?? ''}
              onChange={({ target }) => setPlan({ ...plan, approach: target.value || undefined })}
            />
          </label>
          {plan.pulses.map((pulse, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a pulse's id is being edited
            <fieldset key={index} className="stack pulse-fields">
              <legend>Pulse {index + 1}</legend>
              <div className="row">
                <label>
                  Id <input value={pulse.id} onChange={({ target }) => change(index, { id: target.value })} />
                </label>
                <label className="grow">
                  Title{' '}
                  <input
                    value={pulse.title}
                    onChange={({ target }) => change(index, { title: target.value })}
                  />
                </label>
                <Button isQuiet onClick={() => setPulses(plan.pulses.filter((_, at) => at !== index))}>
                  Remove
                </Button>
              </div>
              <label>
                Description
                <textarea
                  rows={3}
                  value={pulse.description}
                  onChange={({ target }) => change(index, { description: target.value })}
                />
              </label>
            </fieldset>
          ))}
          <p>
            <Button onClick={() => setPulses([...plan.pulses, { id: '', title: '', description: '' }])}>
              Add a pulse
            </Button>{' '}
            <Button isQuiet onClick={() => setJson(JSON.stringify(plan, null, 2))}>
              Edit all of it as JSON
            </Button>
          </p>
        </>
      ) : (
        <label>
          Plan
          <textarea
            className="code"
            rows={20}
            value={json}
            onChange={({ target }) => setJson(target.value)}
          />
        </label>
      )}
      {fault && (
        <p className="tone-failed" role="alert">
          {fault}
        </p>
      )}
      <p className="row">
        <ActionButton type="submit" isPrimary disabled={isBusy}>
          Approve edited plan
        </ActionButton>
        <Button onClick={onCancel}>Cancel</Button>
      </p>
    </form>
  );
}
