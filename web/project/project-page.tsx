/** What belongs to a repository and to no session: its beads, the mail of its agents, their files, its context. */
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import { GraphTab } from '../swarm/graph-tab.tsx';
import { Mail } from '../swarm/mail.tsx';
import { Reservations } from '../swarm/reservations.tsx';
import { useParameter } from '../ui/address.ts';
import { Empty, Failure } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { BeadsTab } from './beads-tab.tsx';
import { ContextTab } from './context-tab.tsx';
import { ProofsTab } from './proofs-tab.tsx';

const TABS = [
  { name: 'beads', label: 'Beads' },
  { name: 'graph', label: 'Graph' },
  { name: 'mail', label: 'Mail' },
  { name: 'reservations', label: 'Reservations' },
  { name: 'context', label: 'Context' },
  { name: 'proofs', label: 'Proofs' },
] as const;

export default function ProjectPage() {
  const [path, setPath] = useParameter('path', '');
  const [tab, setTab] = useParameter('tab', 'beads');
  const { data, error } = useAnswer(['projects'], (call) => pulse.projects({}, call));
  const known = data?.projects.filter(({ isThere }) => isThere) ?? [];
  const chosen = path || (known[0]?.path ?? '');
  return (
    <div className="project">
      <header className="page-head">
        <h1>Project</h1>
        <label className="filters">
          Repository{' '}
          <input
            list="known-projects"
            value={path}
            placeholder={chosen}
            onChange={({ target }) => setPath(target.value)}
          />
        </label>
        <datalist id="known-projects">
          {known.map(({ id, path: one }) => (
            <option key={id} value={one} />
          ))}
        </datalist>
      </header>
      <Failure error={error} />
      {data && chosen === '' && (
        <Empty command={'pulse start "what should be done"'}>No project has had a session yet.</Empty>
      )}
      {chosen !== '' && (
        <Tabs label="Project" tabs={TABS} chosen={tab} onChoose={setTab}>
          <Part tab={tab} path={chosen} />
        </Tabs>
      )}
    </div>
  );
}

function Part({ tab, path }: { tab: string; path: string }) {
  const [epic] = useParameter('epic', '');
  switch (tab) {
    case 'graph':
      return <GraphTab key={path} epic={epic} project={path} />;
    case 'mail':
      return <Mail key={path} project={path} name={null} />;
    case 'reservations':
      return <Reservations key={path} project={path} />;
    case 'proofs':
      return <ProofsTab key={path} project={path} />;
    case 'context':
      return <ContextTab key={path} project={path} />;
    default:
      return <BeadsTab key={path} project={path} />;
  }
}
