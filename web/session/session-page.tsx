/** A session of any loop: how it stands, what it asks, what happened, and what its loop has beside that. */
import { lazy, Suspense } from 'react';
import { useHead } from '../api/queries.ts';
import type { Head } from '../api/types.ts';
import { useWatch } from '../live/use-live.ts';
import { Loading, NotShown } from '../ui/parts.tsx';
import { After } from './after.tsx';
import { Decide } from './decide.tsx';
import { Iterations } from './iterations.tsx';
import { SessionHead } from './session-head.tsx';

const WorkflowPart = lazy(() => import('../workflow/workflow-part.tsx'));
const ResearchPart = lazy(() => import('../research/research-part.tsx'));
const BeadDraft = lazy(() => import('./bead-draft.tsx'));
const SwarmPart = lazy(() => import('../swarm/swarm-part.tsx'));

interface SessionPageProps {
  id: string;
  iteration: number | undefined;
  tab: string | undefined;
}

export function SessionPage({ id, iteration, tab }: SessionPageProps) {
  const { data, error } = useHead(id);
  useWatch(data?.session.id ?? id, data?.lastSeq);
  if (!data) return error ? <NotShown what="This session" error={error} /> : <Loading of="the session" />;
  return (
    <article className="session">
      <SessionHead head={data} />
      <Decide head={data} />
      <After head={data} />
      <LoopPart head={data} />
      <Iterations head={data} iteration={iteration} tab={tab} />
    </article>
  );
}

function LoopPart({ head }: { head: Head }) {
  const { kind, id } = head.session;
  const Part = { workflow: WorkflowPart, research: ResearchPart, beads: SwarmPart, 'bead-plan': BeadDraft }[
    kind
  ];
  if (!Part) return null;
  return (
    <Suspense fallback={<Loading of="the view" />}>
      <Part id={id} head={head} />
    </Suspense>
  );
}
