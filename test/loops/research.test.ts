/** What the research loop makes of runs that did not come to their own end. */
import { describe, expect, it } from 'vitest';
import type { AttemptResult, RunReport } from '../../src/domain/attempt.ts';
import { decideResearch } from '../../src/loops/research/decide.ts';
import { researchFileOf } from '../../src/loops/research/measure/measure.ts';
import type { Experiment, Research } from '../../src/loops/research/rows.ts';
import type { ExperimentChange, ResearchState } from '../../src/loops/research/state.ts';
import { reported } from './states.ts';

const CONTENT = {
  goal: 'Lower the cost',
  metric: { name: 'cost', direction: 'lower', verifyCommand: './measure.sh' },
  scope: { inScope: ['src/**'] },
};

const EXPERIMENT = {
  number: 1,
  status: 'running',
  description: '',
  start_sha: 'base',
  wip_sha: null,
  crashes: [],
  duration_ms: 0,
} as unknown as Experiment;

/** The verdict on the run of an experiment; the session has had as many runs as it has experiments to run. */
function verdictOf(run: Partial<RunReport>, result: Partial<AttemptResult> = {}) {
  const state = reported(run, { result, session: { kind: 'research', max_iterations: 1 } });
  const research = {
    session_id: state.session.id,
    content: CONTENT,
    iterations: 8,
    parallel: 1,
    best: 100,
    reference: {},
  } as unknown as Research;
  const own: ResearchState = {
    research,
    file: researchFileOf(CONTENT),
    running: EXPERIMENT,
    count: 1,
    lead: state.session,
    workers: [],
    bestSha: 'base',
    isReadElsewhere: false,
  };
  const step = decideResearch({ ...state, own });
  if (step.do !== 'settle') throw new Error(`the step is ${step.do}`);
  return { ...step.verdict, experiment: step.verdict.change as ExperimentChange };
}

const HUNG = { class: 'timeout_hard', message: 'It took longer than 60 minutes.' } as const;

describe('a run that takes too long', () => {
  it('discards its experiment and does not end the session, however many runs were needed for mending', () => {
    const verdict = verdictOf({ failure: { ...HUNG, resetAt: null } });
    expect(verdict).toMatchObject({ status: 'timeout', stop: null });
    expect(verdict.experiment).toMatchObject({
      status: 'discard',
      patch: { reason: 'The run took too long.' },
    });
  });
});

describe('a run that could not work', () => {
  it('gives the experiment no description: what it said is no idea', () => {
    const failure = { class: 'auth', message: 'Please log in.', resetAt: null } as const;
    const verdict = verdictOf({ failure, finalMessage: 'Please log in.' }, { commit: null });
    expect(verdict.stop).toMatchObject({ status: 'blocked', reason: 'agent_auth' });
    expect(verdict.experiment).toMatchObject({ status: 'running', patch: { description: '' } });
  });
});
