/** What starts by itself: planning what is filled in above, and what was planned. */
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import { ActionButton, Empty, Failure, Section } from '../ui/parts.tsx';
import { At } from '../ui/time.tsx';
import type { Kind } from './fields.ts';

interface PlanLaterProps {
  kind: Kind;
  /** What is filled in; `null`: it cannot be read. */
  read(): Record<string, unknown> | null;
}

export function PlanLater({ kind, read }: PlanLaterProps) {
  const [when, setWhen] = useState('');
  const [zone, setZone] = useState('');
  const [missed, setMissed] = useState('');
  const plan = useAction(pulse.schedule.plan, { says: 'It is planned', onDone: () => setWhen('') });
  const send = (): void => {
    const input = read();
    if (!input) return;
    plan.run({
      ...{ when: when.trim(), kind, input },
      ...(zone.trim() === '' ? {} : { zone: zone.trim() }),
      ...(missed === '' ? {} : { missed }),
    });
  };
  return (
    <>
      <p className="row">
        <label>
          When
          <input
            placeholder="in 2h, at 22:00, 0 22 * * mon-fri"
            size={28}
            value={when}
            onChange={({ target }) => setWhen(target.value)}
          />
        </label>
        <label>
          Time zone
          <input
            placeholder={Intl.DateTimeFormat().resolvedOptions().timeZone}
            size={16}
            value={zone}
            onChange={({ target }) => setZone(target.value)}
          />
        </label>
        <label>
          A missed time
          <select value={missed} onChange={({ target }) => setMissed(target.value)}>
            <option value="">as usual</option>
            <option value="run">is run, once, later</option>
            <option value="skip">is skipped</option>
          </select>
        </label>
        <ActionButton disabled={plan.isBusy || when.trim() === ''} onClick={send}>
          Plan it
        </ActionButton>
      </p>
      <Failure error={plan.error} />
    </>
  );
}

export function Planned() {
  const [isAll, setIsAll] = useState(false);
  const { data, error } = useAnswer(
    ['schedules', isAll],
    (call) => pulse.schedule.list(isAll ? { all: true } : {}, call),
    { everyMs: 15_000 },
  );
  return (
    <Section
      title="Planned"
      aside={
        <label className="inline">
          <input type="checkbox" checked={isAll} onChange={({ target }) => setIsAll(target.checked)} /> All
          that is over, too
        </label>
      }
    >
      <Failure error={error} />
      {data?.schedules.length === 0 && (
        <Empty command={'pulse schedule add "in 2h" -- start "what should be done"'}>
          Nothing starts by itself.
        </Empty>
      )}
      <ul className="findings" aria-label="Planned">
        {data?.schedules.map((one) => (
          <PlannedRow key={one.id} one={one} />
        ))}
      </ul>
    </Section>
  );
}

type Schedule = Awaited<ReturnType<typeof pulse.schedule.list>>['schedules'][number];

function PlannedRow({ one }: { one: Schedule }) {
  const remove = useAction(pulse.schedule.remove, { says: 'It is taken back' });
  return (
    <li className="device">
      <span>
        <b>{one.expression}</b> <span className="dim">({one.zone})</span> {one.words.join(' ')}{' '}
        <span className="dim">
          {one.nextAt === null ? (
            'over'
          ) : (
            <>
              next <At at={one.nextAt} />
            </>
          )}
        </span>
        {one.lastError && <span className="tone-failed"> not started: {one.lastError}</span>}
        {one.missedCount > 0 && <span className="tone-needs"> missed {one.missedCount}</span>}
      </span>
      <ActionButton
        aria-label={`Take back ${one.words.join(' ')}`}
        disabled={remove.isBusy}
        onClick={() => remove.run({ id: one.id })}
      >
        Take back
      </ActionButton>
      <Failure error={remove.error} />
    </li>
  );
}
