/** What waits to be merged, in its order: one at a time. */
import { useRead } from '../api/queries.ts';
import { plural } from '../ui/format.ts';
import { Empty, Failure } from '../ui/parts.tsx';
import { Ago } from '../ui/time.tsx';

interface Waiting {
  bead: string;
  title: string;
  worker: string | null;
  conflicts: number;
  needsPerson: boolean;
  since: string;
}

export function Queue({ id }: { id: string }) {
  const { data, error } = useRead<{ queue: Waiting[] }>(`/api/swarms/${id}/queue`, { everyMs: 3_000 });
  return (
    <>
      <Failure error={error} />
      {data?.queue.length === 0 && <Empty>Nothing waits to be merged.</Empty>}
      <ol className="rows" aria-label="Queue">
        {data?.queue.map((one) => (
          <li key={one.bead} className="task">
            <code>{one.bead}</code> {one.title}{' '}
            <span className="dim">
              {one.worker}, <Ago at={one.since} />
              {one.conflicts > 0 && `, ${plural(one.conflicts, 'conflict')}`}
            </span>
            {one.needsPerson && <span className="tone-needs"> needs you</span>}
          </li>
        ))}
      </ol>
    </>
  );
}
