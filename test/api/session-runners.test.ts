import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSessionRunners, type SessionRunnersOptions } from '../../src/api/session-runners.ts';
import { PulseError } from '../../src/domain/errors.ts';
import type { SessionStatus } from '../../src/domain/status.ts';
import type { RunnerEnd } from '../../src/engine/runner/runner.ts';
import type { Session } from '../../src/store/sessions.ts';
import { until } from '../engine/scene.ts';

interface Stage {
  /** What each run does, in turn; the last one stands for all that follow. */
  runs: ((signal: AbortSignal) => Promise<RunnerEnd>)[];
  status: SessionStatus;
  runner: 'alive' | 'elsewhere' | 'none';
}

function makeRunners(stage: Partial<Stage>) {
  const state: Stage = { runs: [async () => 'left'], status: 'complete', runner: 'none', ...stage };
  const calls = { runs: 0, taken: 0, letGo: 0, said: [] as string[] };
  const options: SessionRunnersOptions = {
    pulse: {
      run: (_, signal) => state.runs[Math.min(calls.runs++, state.runs.length - 1)]!(signal),
      session: async (id) => ({ id, status: state.status }) as Session,
      runner: async () => state.runner,
    },
    served: { takeOver: async () => void calls.taken++, letGo: async () => void calls.letGo++ },
    say: (text) => calls.said.push(text),
    backoffMs: () => 1,
    patienceMs: 0,
  };
  return { state, calls, runners: createSessionRunners(options) };
}

const aborted = (signal: AbortSignal): Promise<RunnerEnd> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('shutdown'), { once: true }));

describe('the runners of serve', () => {
  it('drive a session once, however often they are asked, and let go of it at its end', async () => {
    const { runners, calls, state } = makeRunners({ runs: [() => delay(20, 'left' as const)] });
    runners.run('ses_1');
    runners.run('ses_1');
    runners.run('ses_2');
    expect(runners.count).toBe(2);
    await until(() => runners.count === 0);
    // One more look at the one that was asked for again: its end may have been from before.
    expect(calls).toMatchObject({ runs: 3, letGo: 3 });
    expect(state.status).toBe('complete');
  });

  it('start a runner again that failed, and one that left a session running', async () => {
    const failing = async (): Promise<RunnerEnd> => {
      throw new PulseError('disk_full', 'The disk is full.', { retryable: true });
    };
    const { runners, calls, state } = makeRunners({
      status: 'running',
      runs: [
        failing,
        failing,
        async () => 'left',
        async () => {
          state.status = 'blocked';
          return 'left';
        },
      ],
    });
    runners.run('ses_1');
    await until(() => runners.count === 0);
    expect(calls.runs).toBe(4);
    expect(calls.said.filter((text) => text.includes('The disk is full.'))).toHaveLength(2);
  });

  it('leave a session to a living process that holds it', async () => {
    const { runners, calls } = makeRunners({
      status: 'running',
      runner: 'alive',
      runs: [async () => 'held_elsewhere'],
    });
    runners.run('ses_1');
    await until(() => runners.count === 0);
    expect(calls.letGo).toBe(1);
    expect(calls.said.join()).toContain('another process runs it');
  });

  it('wait for a lease of another host to end', async () => {
    const { runners, calls, state } = makeRunners({
      status: 'running',
      runner: 'elsewhere',
      runs: [
        async () => 'held_elsewhere',
        async () => {
          state.status = 'complete';
          return 'left';
        },
      ],
    });
    runners.run('ses_1');
    await until(() => runners.count === 0);
    expect(calls.runs).toBe(2);
  });

  it('forget a session that is not there', async () => {
    const { runners, calls } = makeRunners({
      runs: [() => Promise.reject(new PulseError('not_found', 'There is no such session.'))],
    });
    runners.run('ses_1');
    await until(() => runners.count === 0);
    expect(calls).toMatchObject({ runs: 1, said: [] });
  });

  it('keep sessions in hand when they are told to stop, and take no more', async () => {
    const { runners, calls } = makeRunners({ status: 'running', runs: [aborted] });
    runners.run('ses_1');
    await until(() => calls.runs === 1);
    await runners[Symbol.asyncDispose]();
    runners.run('ses_2');
    expect(calls).toMatchObject({ runs: 1, taken: 1, letGo: 0 });
    expect(runners.count).toBe(0);
  });
});
