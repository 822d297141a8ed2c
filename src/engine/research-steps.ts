/** The steps of research: reading the baseline, an experiment's run, and where its commit goes. */

import type { Experiment } from '../store/research.ts';
import { insertExperiment, updateExperiment } from '../store/research.ts';
import { act } from './actions.ts';
import { plainBrief } from './brief-again.ts';
import { type AttemptPart, dispatchIteration, headSha } from './dispatch.ts';
import type { Engine } from './engine.ts';
import type { ExperimentChange, LiveIteration, SessionState } from './loop.ts';
import type { MeasureRequest } from './measure.ts';

interface ResearchStep {
  state: SessionState;
  token: number;
}

const EXPERIMENT_TOOLS = ['experiment_describe', 'alert'];

function requestOf(state: SessionState): MeasureRequest {
  const { research } = state.research!;
  return {
    content: research.content,
    reference: research.reference as MeasureRequest['reference'],
    bestSha: headSha(state),
    goodRunsMs: research.good_runs_ms,
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
        (db) => dispatchIteration(db, { state, unit: 'baseline', brief, token, ids, part }),
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
  const flow = state.research!;
  const number = experiment?.number ?? flow.count + 1;
  const baseSha = experiment?.start_sha ?? headSha(state);
  const brief = await briefs.experiment({ state, number, experiment });
  await act(trace, 'dispatch', {
    perform: () =>
      store.tx(
        'dispatch',
        async (db) => {
          await dispatchIteration(db, {
            state,
            unit: `exp-${number}`,
            brief,
            token,
            ids,
            startSha: experiment?.wip_sha ?? baseSha,
            part: {
              role: 'experiment',
              verifyOn: 'never',
              setup: flow.file.setup ?? session.setup,
              work: {
                kind: 'experiment',
                number,
                baseSha,
                description: experiment?.description || null,
                request: { ...requestOf(state), bestSha: baseSha },
              },
            },
            moreTools: EXPERIMENT_TOOLS,
            events: experiment ? [] : [{ type: 'experiment.started', data: { number } }],
          });
          if (experiment) await updateExperiment(db, experiment, { runs: experiment.runs + 1 });
          else await insertExperiment(db, { session_id: session.id, number, start_sha: baseSha });
        },
        { session: session.id },
      ),
  });
}

/** One ref transaction; doing it again is no error. */
export async function landExperiment(
  { trace, workspace, pulses }: Engine,
  {
    state,
    live,
    change,
    commit,
  }: { state: SessionState; live: LiveIteration; change: ExperimentChange; commit: string | null },
): Promise<void> {
  const { session } = state;
  const { number, start_sha: startSha } = change.experiment;
  if (!commit) return;
  const landing = { taskId: live.task.id, pulse: { id: `exp-${number}`, branch: null, startSha } };
  if (change.landing === 'branch') {
    await act(trace, 'advance_ref', {
      perform: () => pulses.land(session, { ...landing, from: startSha, to: commit }),
    });
  } else if (change.landing === 'wip') {
    await act(trace, 'keep_wip', { perform: () => pulses.keepWip(session, { ...landing, to: commit }) });
  } else {
    await act(trace, 'discard', {
      perform: () => workspace.discard(session, { ...landing, number, commit }),
    });
  }
}

/** Log and session file say what the rows say; writing them again is no error. */
export async function writeResearchFiles({ trace, researchFiles }: Engine, sessionId: string): Promise<void> {
  await act(trace, 'write_files', { perform: () => researchFiles.write(sessionId) });
}
