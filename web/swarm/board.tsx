/** The beads by where they stand. On a phone the columns are one list. */
import { useState } from 'react';
import type { SwarmView } from '../api/types.ts';
import { shortSha } from '../ui/format.ts';
import { Empty } from '../ui/parts.tsx';
import { BeadDialog } from './bead-dialog.tsx';

type SwarmBead = SwarmView['beads'][number];

const COLUMNS = [
  { name: 'open', title: 'Ready' },
  { name: 'in_progress', title: 'In progress' },
  { name: 'merging', title: 'Merging' },
  { name: 'blocked', title: 'Blocked' },
  { name: 'closed', title: 'Closed' },
] as const;

export function Board({ view }: { view: SwarmView }) {
  const [open, setOpen] = useState<string | null>(null);
  const merging = new Set(view.workers.filter(({ isWaiting }) => isWaiting).map(({ bead }) => bead));
  const columnOf = ({ id, status }: SwarmBead): string =>
    merging.has(id) ? 'merging' : COLUMNS.some(({ name }) => name === status) ? status : 'open';
  if (view.beads.length === 0)
    return (
      <Empty command={`pulse bead create --epic ${view.swarm.epic} --title …`}>The epic has no beads.</Empty>
    );
  return (
    <div className="board">
      {COLUMNS.map(({ name, title }) => {
        const beads = view.beads.filter((bead) => columnOf(bead) === name);
        return (
          <section key={name} className={`board-column board-${name}`}>
            <h3>
              {title} <span className="count">{beads.length}</span>
            </h3>
            <ul aria-label={title}>
              {beads.map((bead) => (
                <li key={bead.id}>
                  <button type="button" className="bead" data-row onClick={() => setOpen(bead.id)}>
                    <span>{bead.title}</span>
                    <span className="dim">
                      <code>{bead.id}</code> {bead.worker}{' '}
                      {bead.commit && <code>{shortSha(bead.commit)}</code>}
                    </span>
                    {bead.reason && bead.status !== 'closed' && (
                      <span className="tone-needs">{bead.reason}</span>
                    )}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {open && <BeadDialog id={open} project={view.session.project_path} onClose={() => setOpen(null)} />}
    </div>
  );
}
