/** What workers that paused have left, and who resumes it. */
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import { useRead } from '../api/queries.ts';
import { ActionButton, Failure, Section } from '../ui/parts.tsx';
import { Ago } from '../ui/time.tsx';

interface Handoff {
  handoff_id: string;
  owner_id: string;
  paused_at: string;
  reason: string;
  summary: string;
  next_action: string;
}

export function Handoffs({ id }: { id: string }) {
  const { data } = useRead<{ handoffs: Handoff[] }>(`/api/swarms/${id}/handoffs`);
  if (!data || data.handoffs.length === 0) return null;
  return (
    <Section title="Handoffs">
      <ol className="rows">
        {data.handoffs.map((handoff) => (
          <li key={handoff.handoff_id} className="task">
            <p>
              <b>{handoff.owner_id}</b> {handoff.summary}{' '}
              <span className="dim">
                {handoff.reason}, <Ago at={handoff.paused_at} suffix=" ago" />. Next: {handoff.next_action}
              </span>
            </p>
            <Reassign id={id} from={handoff.owner_id} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Reassign({ id, from }: { id: string; from: string }) {
  const [to, setTo] = useState('');
  const reassign = useAction(`/api/swarms/${id}/handoffs/reassign`, { says: 'It is reassigned' });
  return (
    <p className="row">
      <label>
        Give it to <input value={to} onChange={({ target }) => setTo(target.value)} />
      </label>
      <ActionButton
        disabled={reassign.isBusy || to.trim() === ''}
        onClick={() => reassign.run({ from, to: to.trim() })}
      >
        Reassign
      </ActionButton>
      <Failure error={reassign.error} />
    </p>
  );
}
