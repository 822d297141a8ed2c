/** Editing a plan: its pulses one by one, or the whole as text. Pulse says what is wrong with it. */
import { type FormEvent, useState } from 'react';
import type { Plan } from '../api/types.ts';
import { Panel } from '../ui/form.tsx';
import { ActionButton, Button } from '../ui/parts.tsx';
import { PlanDiff } from './plan-changes.tsx';

interface PlanEditorProps {
  plan: Plan;
  isBusy: boolean;
  /** A text is YAML or JSON, which Pulse reads. */
  onApprove(plan: Plan | string): void;
  onCancel(): void;
}

type Planned = Plan['pulses'][number];

export function PlanEditor({ plan: before, isBusy, onApprove, onCancel }: PlanEditorProps) {
  const [plan, setPlan] = useState(before);
  const [text, setText] = useState<string | null>(null);
  const setPulses = (pulses: Planned[]): void => setPlan({ ...plan, pulses });
  const change = (index: number, part: Partial<Planned>): void =>
    setPulses(plan.pulses.map((pulse, at) => (at === index ? { ...pulse, ...part } : pulse)));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onApprove(text ?? plan);
  };
  return (
    <form className="plan-editor stack" onSubmit={submit}>
      {text === null ? (
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
            <Button isQuiet onClick={() => setText(JSON.stringify(plan, null, 2))}>
              Edit all of it as text
            </Button>
          </p>
          {plan !== before && (
            <Panel title="What you change">
              <PlanDiff before={before} after={plan} />
            </Panel>
          )}
        </>
      ) : (
        <label>
          Plan, as YAML or JSON
          <textarea
            className="code"
            rows={20}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
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
