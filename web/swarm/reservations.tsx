/** Which files are kept by whom, and until when. Ending one is a person's force. */
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import { query } from '../api/client.ts';
import { pulse } from '../api/pulse.ts';
import { useRead } from '../api/queries.ts';
import type { Reservation } from '../api/types.ts';
import { Dialog } from '../ui/dialog.tsx';
import { type Field, FormPanel } from '../ui/form.tsx';
import { ActionButton, Button, Empty, Failure } from '../ui/parts.tsx';
import { At } from '../ui/time.tsx';

const RESERVE: Field[] = [
  { name: 'agent_name', label: 'For', isRequired: true, hint: 'A name that is registered for mail.' },
  { name: 'paths', label: 'Paths', kind: 'lines', isRequired: true, hint: 'One path or pattern a line.' },
  { name: 'ttl', label: 'For how long', placeholder: '1h' },
  { name: 'reason', label: 'Reason', isWide: true },
  { name: 'shared', label: 'Others may share them', kind: 'flag' },
  { name: 'force', label: 'Take them from who holds them', kind: 'flag' },
];
const RELEASE: Field[] = [
  { name: 'agent_name', label: 'Of', isRequired: true },
  { name: 'paths', label: 'Paths', kind: 'lines', hint: 'Empty: all of them.' },
];

export function Reservations({ project }: { project: string }) {
  const path = `/api/reservations${query({ project_key: project })}`;
  const { data, error } = useRead<{ reservations: Reservation[] }>(path, { everyMs: 5_000 });
  const reserve = useAction(reserveFiles, { says: 'The reservations are made' });
  const release = useAction(pulse.reservations.release, { says: 'They are released' });
  const [ending, setEnding] = useState<Reservation | null>(null);
  return (
    <>
      <Failure error={error} />
      {data?.reservations.length === 0 && <Empty>No file is reserved.</Empty>}
      {data && data.reservations.length > 0 && (
        <table aria-label="Reservations">
          <thead>
            <tr>
              <th>file and holder</th>
              <th>
                <span className="unseen">action</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.reservations.map((one) => (
              <tr key={one.id}>
                <td>
                  <code className="path">{one.path}</code>
                  <p>
                    {one.exclusive ? 'exclusive' : 'shared'}, {one.agent_name} until{' '}
                    <At at={one.expires_at} />
                    {one.reason && <span className="dim">: {one.reason}</span>}
                  </p>
                </td>
                <td className="number">
                  <Button
                    isQuiet
                    aria-label={`Force the end of the reservation of ${one.path}`}
                    onClick={() => setEnding(one)}
                  >
                    Force
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <FormPanel
        title="Reserve files"
        label="Reserve files"
        fields={RESERVE}
        draft={`reserve.${project}`}
        action={reserve}
        fixed={{ project_key: project }}
        submit="Reserve"
      />
      {reserve.result?.conflicts.map(({ path: taken, holder }) => (
        <p key={taken} className="tone-needs" role="status">
          <code>{taken}</code> is held by {holder}: nothing was reserved.
        </p>
      ))}
      <FormPanel
        title="Release files"
        label="Release files"
        fields={RELEASE}
        draft={`release.${project}`}
        action={release}
        fixed={{ project_key: project }}
        submit="Release"
      />
      {ending && <EndDialog one={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

type Reserved = Parameters<typeof pulse.reservations.reserve>[0];

function reserveFiles(
  { shared, ...input }: Reserved & { shared?: boolean },
  call: Parameters<typeof pulse.reservations.reserve>[1],
) {
  return pulse.reservations.reserve({ ...input, ...(shared ? { exclusive: false } : {}) }, call);
}

function EndDialog({ one, onClose }: { one: Reservation; onClose(): void }) {
  const end = useAction(`/api/reservations/${one.id}`, {
    method: 'DELETE',
    says: 'The reservation has ended',
    onDone: onClose,
  });
  return (
    <Dialog label="End a reservation" onClose={onClose}>
      <h2>End it for {one.agent_name}?</h2>
      <p>
        <code>{one.path}</code> is free then, although {one.agent_name} may still be writing there.
      </p>
      <Failure error={end.error} />
      <p className="dialog-end">
        <Button onClick={onClose}>Keep it</Button>
        <ActionButton className="button-danger" disabled={end.isBusy} onClick={() => end.run()}>
          End reservation
        </ActionButton>
      </p>
    </Dialog>
  );
}
