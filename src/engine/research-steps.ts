/** The steps of research: reading the baseline, an experiment's run, and where its commit goes. */

import { isPulseError } from '../domain/errors.ts';
import type { HeadMoved } from '../git/session-head.ts';
import { appendEvents } from '../store/events.ts';
import {
  countExperiments,
  type Experiment,
  insertExperiment,
  isOvertaken,
  listExperiments,
  updateExperiment,
} from '../store/research.ts';
import type { Session } from '../store/sessions.ts';
import { act } from './actions.ts';
import { plainBrief } from './brief-again.ts';
import { type AttemptPart, dispatchIteration } from './dispatch.ts';
import type { Engine } from './engine.ts';
import type { ExperimentChange, LiveIteration, SessionState } from './loop.ts';
import { BASELINE_UNIT, type MeasureRequest } from './measure.ts';
import { hireWorkers } from './workers.ts';

interface ResearchStep {
  state: SessionState;
  token: number;
}

const EXPERIMENT_TOOLS = ['experiment_describe', 'alert', 'show_report'];

function requestOf(state: SessionState): MeasureRequest {
  const { research } = state.research!;
  return {
    content: research.content,
    reference: research.reference as MeasureRequest['reference'],
    bestSha: state.research!.bestSha,
    goodRunsMs: research.good_runs_ms,
    host: research.host,
  };
}

export async function dispatchBaseline(engine: Engine, { state, token }: ResearchStep): Promise<void> {
  const { store, trace, ids } = engine;
  const part: AttemptPart = {
    role: 'baseline',
    tools: [],
    verifyOn: 'never',
    setup: state.research!.file.setup ?? state.session.setup,
    work: { kind: 'baseline', request: requestOf(state) },
  };
  const brief = plainBrief('Baseline: the metric as it is before the first experiment.');
  await act(trace, 'dispatch', {
    perform: () =>
      store.tx(
        'dispatch',
        (db) => dispatchIteration(db, { state, unit: BASELINE_UNIT, brief, token, ids, part }),
        {
          session: state.session.id,
        },
      ),
  });
}

/** `null`: a new one; else the next run of the one in hand, on what its last run left. */
export async function dispatchExperiment(
  engine: Engine,
  { state, experiment, token }: ResearchStep & { experiment: Experiment | null },
): Promise<void> {
  const { store, trace, ids, briefs } = engine;
  const { session } = state;
  const { file, lead, bestSha, count } = state.research!;
  const isOwn = lead.id === session.id;
  const number = experiment?.number ?? count + 1;
  const outdated = experiment?.is_outdated ? experiment.wip_sha : null;
  const baseSha = outdated ? bestSha : (experiment?.start_sha ?? bestSha);
  const brief = outdated
    ? plainBrief(`Experiment ${number} again, on top of what was kept meanwhile.`)
    : await briefs.experiment({ state, number, experiment });
  await act(trace, 'dispatch', {
    perform: () =>
      store.tx(
        'dispatch',
        async (db) => {
          // Another worker was quicker: the next look decides anew.
          if (!experiment && (await countExperiments(db, lead.id)) !== count) return;
          await dispatchIteration(db, {
            state,
            unit: `exp-${number}`,
            brief,
            token,
            ids,
            startSha: outdated ? baseSha : (experiment?.wip_sha ?? baseSha),
            part: {
              role: 'experiment',
              verifyOn: 'never',
              setup: file.setup ?? session.setup,
              work: {
                kind: 'experiment',
                number,
                baseSha,
                description: experiment?.description || null,
                request: { ...requestOf(state), bestSha: baseSha },
                leadId: isOwn ? null : lead.id,
                outdated,
              },
              ...(outdated ? { tools: [] } : {}),
            },
            moreTools: EXPERIMENT_TOOLS,
            events: isOwn && !experiment ? [{ type: 'experiment.started', data: { number } }] : [],
          });
          if (experiment) {
            const again = outdated ? { start_sha: baseSha, is_outdated: 0 } : { runs: experiment.runs + 1 };
            await updateExperiment(db, experiment, again);
            return;
          }
          const worker_id = isOwn ? '' : session.id;
          await insertExperiment(db, { session_id: lead.id, number, start_sha: baseSha, worker_id });
          if (!isOwn)
            await appendEvents(db, lead.id, [
              { type: 'experiment.started', data: { number, worker: session.id } },
            ]);
        },
        { session: session.id },
      ),
  });
}

/**
 * One ref transaction; doing it again is no error. `overtaken`: another worker's change was kept in this very moment,
 * and the next look decides anew. `null`: the head stays where it is.
 */
export async function landExperiment(
  { store, trace, workspace, pulses }: Engine,
  {
    state,
    live,
    change,
    commit,
  }: { state: SessionState; live: LiveIteration; change: ExperimentChange; commit: string | null },
): Promise<HeadMoved | 'overtaken' | null> {
  const { lead } = state.research!;
  const { number, start_sha: startSha, wip_sha: wip } = change.experiment;
  const made = commit ?? (change.landing === 'discarded' ? wip : null);
  if (!made) return null;
  const landing = { taskId: live.task.id, pulse: { id: `exp-${number}`, branch: null, startSha } };
  if (change.landing === 'wip') {
    await act(trace, 'keep_wip', { perform: () => pulses.keepWip(lead, { ...landing, to: made }) });
  } else if (change.landing === 'discarded') {
    await act(trace, 'discard', {
      perform: () => workspace.discard(lead, { ...landing, number, commit: made }),
    });
  } else {
    try {
      const place = { from: startSha, to: made, left: lead.branch_lags_at };
      return await act(trace, 'advance_ref', { perform: () => pulses.land(lead, { ...landing, ...place }) });
    } catch (error) {
      if (!isPulseError(error, 'ref_moved')) throw error;
      if (await store.read((db) => isOvertaken(db, lead.id, startSha))) return 'overtaken';
      throw error;
    }
  }
  return null;
}

/** The sessions that experiment at the same time, all or none of them. */
export async function hire(
  { store, trace, ids }: Engine,
  { state, count, token }: ResearchStep & { count: number },
): Promise<void> {
  await act(trace, 'hire', {
    perform: () =>
      store.tx('hire', (db) => hireWorkers(db, { state, count, token, ids }), { session: state.session.id }),
  });
}

/** What nobody went on with stays findable, as what was discarded does. */
export async function keepDropped({ store, trace, workspace }: Engine, lead: Session): Promise<void> {
  const experiments = await store.read((db) => listExperiments(db, lead.id));
  for (const { number, status, start_sha: startSha, wip_sha: commit } of experiments) {
    if (status !== 'discard' || commit === null) continue;
    const pulse = { id: `exp-${number}`, branch: null, startSha };
    await act(trace, 'discard', {
      perform: () => workspace.discard(lead, { taskId: null, pulse, number, commit }),
    });
  }
}

/** Log and session file say what the rows say; writing them again is no error. */
export async function writeResearchFiles({ trace, researchFiles }: Engine, sessionId: string): Promise<void> {
  await act(trace, 'write_files', { perform: () => researchFiles.write(sessionId) });
}
