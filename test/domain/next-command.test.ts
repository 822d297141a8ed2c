import { describe, expect, it } from 'vitest';
import { nextCommand, type Standing } from '../../src/domain/next-command.ts';
import { STOP_REASONS, type StoppedStatus, type StopReason } from '../../src/domain/status.ts';
import { requireRaisedLimits } from '../../src/engine/runner/raised-limits.ts';
import type { Session } from '../../src/store/sessions.ts';

const standing: Standing = {
  id: 'ses_1',
  kind: 'goal',
  status: 'blocked',
  stop_reason: null,
  total_commits: 0,
  current_iteration: 3,
  max_iterations: 3,
  spent_usd: 4.4,
  budget_usd: 2,
  total_tokens_used: 5_000,
  budget_tokens: 1_000,
  running_ms: 3 * 3_600_000,
  time_limit_ms: 60_000,
};
const hint = (change: Partial<Standing>) => nextCommand({ ...standing, ...change }, { isDriven: false });

describe('the command that goes on', () => {
  it('is there for every stop but an end', () => {
    for (const [status, reasons] of Object.entries(STOP_REASONS) as [
      StoppedStatus,
      readonly StopReason[],
    ][]) {
      for (const stop_reason of reasons) {
        const isEnd = status === 'complete' || status === 'aborted';
        expect(hint({ status, stop_reason }) === null, `${status} ${stop_reason}`).toBe(isEnd);
      }
    }
  });

  it('names a limit above what is spent, however far the old one was overrun', () => {
    const options: [StopReason, RegExp, string][] = [
      ['budget_cost', /--budget-usd (\S+)$/, 'budget_usd'],
      ['budget_tokens', /--budget-tokens (\S+)$/, 'budget_tokens'],
      ['budget_time', /--time-limit (\S+)h$/, 'time_limit_ms'],
      ['iteration_limit', /--max-iterations (\S+)$/, 'max_iterations'],
    ];
    for (const [stop_reason, pattern, option] of options) {
      for (const change of [{}, { spent_usd: 0, total_tokens_used: 0, running_ms: 0 }]) {
        const value = Number(pattern.exec(hint({ ...change, stop_reason })!.command)![1]);
        const limit = { [option]: option === 'time_limit_ms' ? value * 3_600_000 : value };
        const session = { ...standing, ...change, stop_reason } as Session;
        expect(() => requireRaisedLimits(session, { ...session, ...limit }), stop_reason).not.toThrow();
      }
    }
  });

  it('leads to what a plan or a finished workflow waits for', () => {
    const waits = { kind: 'workflow', stop_reason: 'approval_required' } as const;
    expect(hint(waits)!.command).toBe('pulse workflow approve ses_1');
    expect(hint({ ...waits, total_commits: 2 })!.command).toBe('pulse workflow review ses_1 --approve');
  });

  it('follows what runs, and adopts what nobody runs', () => {
    const running = { ...standing, status: 'running' } as const;
    expect(nextCommand(running, { isDriven: true, name: '3f2c' })!.command).toBe('pulse watch 3f2c');
    expect(nextCommand(running, { isDriven: false })!.command).toBe('pulse resume ses_1');
  });
});
