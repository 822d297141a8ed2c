/** A swarm: its board, its graph, its workers, their mail, their files, and what waits to be merged. */
import { useAction } from '../api/action.ts';
import { useRead } from '../api/queries.ts';
import type { Head, SwarmView } from '../api/types.ts';
import { useParameter } from '../ui/address.ts';
import { plural } from '../ui/format.ts';
import { ActionButton, Failure, Loading, Section } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Board } from './board.tsx';
import { GraphTab } from './graph-tab.tsx';
import { Mail } from './mail.tsx';
import { Queue } from './queue.tsx';
import { Reservations } from './reservations.tsx';
import { Workers } from './workers.tsx';

const TABS = [
  { name: 'board', label: 'Board' },
  { name: 'graph', label: 'Graph' },
  { name: 'workers', label: 'Workers' },
  { name: 'mail', label: 'Mail' },
  { name: 'reservations', label: 'Reservations' },
  { name: 'queue', label: 'Queue' },
] as const;

export default function SwarmPart({ id, head }: { id: string; head: Head }) {
  const { data, error } = useRead<SwarmView>(`/api/swarms/${id}`);
  const [asked, setView] = useParameter('tab', 'board');
  // The tabs of an iteration share the parameter.
  const view = TABS.some(({ name }) => name === asked) ? asked : 'board';
  const stop = useAction(`/api/swarms/${id}/stop`, { says: 'The workers are stopped' });
  if (!data) return error ? <Failure error={error} /> : <Loading of="the swarm" />;
  const { swarm, beads, workers } = data;
  const closed = beads.filter(({ status }) => status === 'closed').length;
  const project = head.session.project_path;
  return (
    <Section
      title={swarm.epic}
      aside={
        <>
          <span className="figures">
            {closed}/{beads.length} closed, {plural(workers.length, 'worker')}
            {swarm.mode === 'standalone' && ', standalone'}
          </span>
          {head.session.status === 'running' && (
            <ActionButton disabled={stop.isBusy} onClick={() => stop.run()}>
              Stop workers
            </ActionButton>
          )}
        </>
      }
    >
      <Failure error={stop.error} />
      <Tabs label="Swarm" tabs={TABS} chosen={view} onChoose={setView}>
        {view === 'board' && <Board view={data} />}
        {view === 'graph' && <GraphTab epic={swarm.epic} project={project} />}
        {view === 'workers' && <Workers id={id} view={data} project={project} />}
        {view === 'mail' && <Mail project={project} name={swarm.coordinator} />}
        {view === 'reservations' && <Reservations project={project} />}
        {view === 'queue' && <Queue id={id} />}
      </Tabs>
    </Section>
  );
}
