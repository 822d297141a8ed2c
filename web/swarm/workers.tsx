/** Who works on what, how full its context is, and for whom it waits. */
import { Link } from 'wouter';
import { query } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import type { Reservation, SwarmView } from '../api/types.ts';
import { Empty, Meter } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import { Handoffs } from './handoffs.tsx';

export function Workers({ id, view, project }: { id: string; view: SwarmView; project: string }) {
  const { data } = useRead<{ reservations: Reservation[] }>(
    `/api/reservations${query({ project_key: project })}`,
    { everyMs: 5_000 },
  );
  if (view.workers.length === 0) {
    return (
      <>
        <Empty>No worker has begun.</Empty>
        <Handoffs id={id} />
      </>
    );
  }
  return (
    <>
      <div className="table-wrap">
        <table aria-label="Workers">
          <thead>
            <tr>
              <th>worker</th>
              <th>status</th>
              <th>bead</th>
              <th>what it does</th>
              <th>context</th>
              <th>holds</th>
            </tr>
          </thead>
          <tbody>
            {view.workers.map((worker) => (
              <tr key={worker.sessionId}>
                <td>
                  <Link href={`/s/${worker.sessionId}`}>{worker.mailName ?? worker.nickname}</Link>
                </td>
                <td>
                  <Outcome word={worker.status} />
                </td>
                <td>
                  <code>{worker.bead}</code>{' '}
                  {worker.isWaiting && <span className="dim">waits to be merged</span>}
                </td>
                <td>
                  {worker.doing ? (
                    <>
                      {worker.doing.text}, <Ago at={worker.doing.since} />
                    </>
                  ) : (
                    <span className="dim">{worker.leftFor}</span>
                  )}
                </td>
                <td>
                  {worker.contextUsed !== null && (
                    <Meter
                      label=""
                      value={worker.contextUsed}
                      limit={1}
                      text={`${Math.round(worker.contextUsed * 100)} %`}
                    />
                  )}
                </td>
                <td>
                  {data?.reservations
                    .filter(({ agent_name }) => agent_name === worker.mailName)
                    .map(({ id: one, path }) => (
                      <code key={one} className="path">
                        {path}
                      </code>
                    ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Handoffs id={id} />
    </>
  );
}
