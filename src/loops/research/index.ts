/** Research: one change an experiment, measured and decided by Pulse; the model only has ideas. */

import { TERMINAL_STATUSES } from '../../domain/status.ts';
import { act } from '../../engine/actions.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Companion, Loop } from '../../engine/loop.ts';
import { getControl, type Session, type SessionControl } from '../../store/sessions.ts';
import type { Db, Store } from '../../store/store.ts';
import { type Commanders, startCourier } from './commander/deliver.ts';
import { reportEnd } from './commander/report.ts';
import { decideResearch } from './decide.ts';
import { createBaselineWork } from './experiment/baseline-work.ts';
import { dropExperiments } from './experiment/dropped-experiments.ts';
import type { ComposeExperimentBrief } from './experiment/experiment-brief.ts';
import type { ExperimentProtocolOptions } from './experiment/experiment-protocol.ts';
import { createExperimentWork } from './experiment/experiment-work.ts';
import { discardedLanding } from './landings.ts';
import type { Measurer } from './measure/measure.ts';
import { findResearch, isOvertaken, listExperiments, updateResearch } from './rows.ts';
import { settleResearch } from './settle.ts';
import { loadResearch, type ResearchState } from './state.ts';

export interface ResearchLoopOptions
  extends Pick<ExperimentProtocolOptions, 'store' | 'onAnnounced' | 'writeReport'> {
  store: Store;
  measurer: Measurer;
  files: ResearchFiles;
  commanders: Commanders;
  compose: ComposeExperimentBrief;
}

/** The research log and the session's file, beside the user's work. */
export interface ResearchFiles {
  write(sessionId: string): Promise<void>;
}

export function createResearchLoop(options: ResearchLoopOptions): Loop<ResearchState> {
  const { store, measurer, files, commanders, onAnnounced, writeReport, compose } = options;
  const writeFiles = ({ trace }: Engine, { id }: Session): Promise<void> =>
    act(trace, 'write_files', { perform: () => files.write(id) });
  return {
    kind: 'research',
    actions: ['measure', 'write_files', 'deliver'],
    works: [
      createBaselineWork(measurer),
      createExperimentWork({ store, measurer, compose, onAnnounced, writeReport }),
    ],
    load: loadResearch,
    decide: decideResearch,
    children: ({ workers }) => workers,
    headOwner: ({ lead }) => lead,
    // An experiment was measured on another tree.
    whenBranchMoved: 'begin_again',
    accompany: (engine, driven) => accompany(engine, commanders, driven),
    hooks: {
      // Another worker's change was kept in this very moment.
      isStale: async (db, { own: { running, lead } }, { code }) =>
        code === 'ref_moved' && running !== null && isOvertaken(db, lead.id, running.start_sha),
      settle: settleResearch,
      afterSettle: (engine, { own: { lead } }) => writeFiles(engine, lead),
      async end(db, { session, control, own }, stop) {
        if (own.lead.id !== session.id) return;
        const reporter = { control, research: own };
        if (TERMINAL_STATUSES.includes(stop.status))
          await dropExperiments(db, reporter, 'The research ended before it was decided.');
        await reportEnd(db, reporter, stop);
      },
      abort: dropAborted,
      resume: adoptPersonsCommits,
      adoptHead: (db, owner, sha) => updateResearch(db, owner.id, { best_sha: sha, reference: null }),
      async implemented(db, { id }, { session, stop }) {
        if (stop.status !== 'complete') return;
        const { phase } = (await findResearch(db, id))!;
        const { id: swarm, total_commits: commits, branch_name: branch } = session;
        await updateResearch(db, id, {
          implementation: `${commits} commits on ${branch}, by the swarm ${swarm}`,
          // Resuming it has taken the person's `finish` back.
          ...(phase === 'implementing' ? { phase: 'complete' } : {}),
        });
      },
      afterImplemented: (engine, session) => writeFiles(engine, session),
      spawned: (workers) => [{ type: 'experiment.workers', data: { workers } }],
      async beforeClose(engine, { session, own: { lead } }) {
        if (lead.id !== session.id) return;
        await nameDropped(engine, lead);
        await writeFiles(engine, lead);
      },
      close: (session) => measurer.close(session),
    },
  };
}

/** What a worker has to tell is told by its lead. */
function accompany(
  engine: Engine,
  commanders: Commanders,
  { session, control, token }: { session: Session; control: SessionControl; token: number },
): Companion | null {
  const { commander: target, environmentPass } = control.settings;
  if (!target || session.parent_session_id !== null) return null;
  const where = { cwd: session.project_path, environmentPass };
  return startCourier(engine, { commanders, sessionId: session.id, token, target, where });
}

/** Closes running experiments and their commander tasks. A worker's experiments are its lead's. */
async function dropAborted(db: Db, session: Session): Promise<void> {
  const research = await findResearch(db, session.id);
  if (!research) return;
  const control = await getControl(db, session.id);
  await dropExperiments(db, { control, research: { lead: session, research } }, 'The research was aborted.');
}

/** What a person has committed meanwhile is the best, and has yet to be read. */
async function adoptPersonsCommits(
  db: Db,
  { id, base_sha }: Session,
  { branchHead, ours }: { branchHead: string | null; ours: readonly string[] },
): Promise<void> {
  const known = (await findResearch(db, id))?.best_sha ?? base_sha;
  if (branchHead && branchHead !== known && !ours.includes(branchHead))
    await updateResearch(db, id, { best_sha: branchHead, reference: null });
}

/** What nobody went on with stays findable, as what was discarded does. */
async function nameDropped({ store, trace, workspace }: Engine, lead: Session): Promise<void> {
  const experiments = await store.read((db) => listExperiments(db, lead.id));
  for (const { number, status, wip_sha: commit } of experiments) {
    if (status !== 'discard' || commit === null) continue;
    const landing = { ...discardedLanding(lead, { number, commit }), taskId: null, left: null, remote: null };
    await act(trace, 'land', { perform: () => workspace.land(lead, landing) });
  }
}
