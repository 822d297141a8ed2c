/** The rows of research, folded, and what a verdict changes of them. */
import type { NewEvent } from '../../domain/events.ts';
import { findSession, listChildren, type Session, type SessionControl } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { researchFileOf } from './measure/measure.ts';
import type { ResearchFile } from './research-file.ts';
import {
  type Experiment,
  type ExperimentPatch,
  findResearch,
  listExperiments,
  type Research,
  runningExperiment,
} from './rows.ts';

export interface ResearchState {
  research: Research;
  file: ResearchFile;
  /** The one that this session edits. */
  running: Experiment | null;
  /** How many have been begun, by all workers together. */
  count: number;
  /** The session whose research it is: this one, or the one that this one works for. */
  lead: Session;
  /** Those that work for this one. */
  workers: readonly Session[];
  /** The commit that a change has to beat. */
  bestSha: string;
  /** The best was read on another host, whose readings say nothing here. */
  isReadElsewhere: boolean;
}

/** A worker's research is its lead's: what is measured, what is best, how many have been begun. */
export async function loadResearch(
  db: Db,
  { session, control, host }: { session: Session; control: SessionControl; host: string },
): Promise<ResearchState> {
  const { parent_session_id: parentId } = session;
  const lead = parentId === null ? session : (await findSession(db, parentId))!;
  const research = (await findResearch(db, lead.id))!;
  const [newest] = await listExperiments(db, lead.id, 1);
  const isByWorkers = research.parallel > 1;
  const own = { sessionId: lead.id, workerId: parentId === null ? '' : session.id };
  return {
    research,
    file: researchFileOf(research.content),
    running: isByWorkers ? await runningExperiment(db, own) : newest?.status === 'running' ? newest : null,
    count: newest?.number ?? 0,
    lead,
    workers: isByWorkers && parentId === null ? await listChildren(db, lead.id) : [],
    bestSha: (isByWorkers ? research.best_sha : control.head_sha) ?? lead.base_sha,
    isReadElsewhere: research.host !== null && research.host !== host,
  };
}

/** What a verdict on an experiment writes. */
export interface ExperimentChange {
  experiment: Experiment;
  status: Experiment['status'];
  patch: ExperimentPatch;
  /** What changes for the session: the best, and what is known of its noise. */
  research: {
    best?: number | null;
    best_experiment?: number;
    best_sha?: string | null;
    reference?: string;
    good_runs_ms?: string;
  };
  events: readonly NewEvent[];
}
