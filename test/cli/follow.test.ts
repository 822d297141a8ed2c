import { describe, expect, it } from 'vitest';
import { INTERRUPT_ANSWERS } from '../../src/cli/follow/interrupts.ts';
import { eventLines } from '../../src/cli/follow/lines.ts';
import { liveLines, questionLines } from '../../src/cli/follow/live-view.ts';
import { advance, firstProgress, type Progress } from '../../src/cli/follow/progress.ts';
import { resultBlock } from '../../src/cli/follow/result.ts';
import type { EventType, PulseEvent } from '../../src/domain/events.ts';
import type { Session } from '../../src/store/sessions.ts';
import { createStyle } from '../../src/terminal/style.ts';
import { displayWidth } from '../../src/terminal/text.ts';

const style = createStyle(false);
const START = '2026-01-01T00:00:00.000Z';

const session = {
  id: 'ses_019a3f2c-7b1e-7000-8000-00000000abcd',
  kind: 'goal',
  goal: 'Do it',
  status: 'running',
  agent: 'demo',
  branch_name: 'pulse/do-it-abcd',
  base_branch: 'main',
  base_sha: 'a'.repeat(40),
  project_path: '/repo',
  current_iteration: 0,
  max_iterations: 10,
  created_at: START,
  last_signal: null,
  spent_usd: 0,
  total_tokens_used: 0,
  total_commits: 0,
  running_ms: 0,
  verify: ['npm test'],
  stop_reason: null,
  blocked_reason: null,
  branch_lags_at: null,
  budget_usd: 10,
} as unknown as Session;

function event(type: EventType, data: Record<string, unknown> = {}, iteration?: number): PulseEvent {
  return { seq: 1, type, at: START, sessionId: session.id, data, ...(iteration ? { iteration } : {}) };
}

function folded(...events: PulseEvent[]): Progress {
  return foldedOf('goal', ...events);
}

function foldedOf(kind: string, ...events: PulseEvent[]): Progress {
  return events.reduce(advance, firstProgress({ ...session, kind } as Session));
}

const draw = (progress: Progress, columns = 80, sinceMs = 5_000): string[] =>
  liveLines(progress, session, { style, columns, nowMs: Date.parse(START) + sinceMs });

describe('the live view', () => {
  it('shows iteration, step, activity, time and the last signal', () => {
    const progress = folded(
      event('iteration.planned', {}, 2),
      event('iteration.started', { attempt: 1 }, 2),
      event('signal.received', { signal: 'CONTINUE' }, 1),
      event('agent.tool', { phase: 'start', name: 'Edit', summary: 'src/a.ts' }, 2),
    );
    const [first, gauges, second] = draw({ ...progress, spentUsd: 0.123, tokens: 12_345 }, 100);
    expect(first).toContain(
      'iteration 2/10 · agent working · 5.0s · $0.12/10 · 12.3k tokens · last CONTINUE',
    );
    expect(gauges).toBe('  budget ▰▱▱▱▱▱▱▱ 1% of cost');
    expect(second).toBe('  Edit src/a.ts');
  });

  it('counts down to the end of a usage limit, from when the wait began', () => {
    const waiting = folded(event('iteration.retried', { attempt: 2, delayMs: 2 * 3_600_000 }, 1));
    expect(draw(waiting, 80, 60_000)[0]).toContain('waiting 1h 59m');
    expect(draw(waiting, 80, 2 * 3_600_000 - 90_000)[0]).toContain('waiting 1m 30s');
    expect(draw(waiting, 80, 3 * 3_600_000)[0]).toMatch(/waiting 0/);
  });

  it('shows which command of preflight is in hand', () => {
    const progress = foldedOf(
      'workflow',
      event('iteration.planned', { unit: 'preflight' }, 1),
      event('iteration.started', { attempt: 1, byPulse: true }, 1),
      event('preflight.progress', { message: 'setup: npm ci' }, 1),
    );
    const [first, second] = draw(progress);
    expect(first).toContain('preflight: setup and checks');
    expect(second).toBe('  setup: npm ci');
  });

  it('does not speak of an agent where Pulse prepares the worktree itself', () => {
    const started = (data: object, unit: string) =>
      draw(
        foldedOf(
          unit === 'preflight' ? 'workflow' : 'research',
          event('iteration.planned', { unit }, 1),
          event('iteration.started', { attempt: 1, ...data }, 1),
        ),
      )[0];
    expect(started({ byPulse: true }, 'preflight')).toContain('preflight: setup and checks');
    expect(started({ byPulse: true }, 'baseline')).toContain('measuring');
    expect(started({}, 'preflight')).toContain('agent working');
  });

  it('says that it verifies once the agent is done', () => {
    expect(
      draw(folded(event('iteration.planned', {}, 1), event('iteration.ended', { ok: true }, 1)))[0],
    ).toContain('verifying npm test');
  });

  it('never draws a line wider than the terminal', () => {
    const progress = folded(
      event('iteration.planned', {}, 2),
      event('agent.text', { text: `\x1b[2J${'日本 text '.repeat(50)}` }, 2),
    );
    for (const columns of [5, 20, 40, 79, 200]) {
      for (const line of draw(progress, columns)) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  it('leaves one line for a settled iteration, and the failing command for a rejected one', () => {
    const settled = event(
      'iteration.settled',
      { outcome: 'rejected', signal: 'COMPLETE', files: ['a'], commit: 'abcdef0123', summary: 'Said done' },
      2,
    );
    const verified = event(
      'iteration.verified',
      { passed: false, commands: [{ command: 'npm test', exit: 1, passed: false }] },
      2,
    );
    const lines = eventLines(settled, folded(event('iteration.planned', {}, 2), verified), {
      style,
      columns: 80,
    });
    expect(lines).toEqual(['✗ 2 COMPLETE rejected  1 file  abcdef0  Said done', '    npm test → exit 1']);
  });

  it('shows the name of a failing test and two lines of what it printed', () => {
    const output = ['not ok 3 - rejects an empty name', 'AssertionError: expected 1', 'got 2', 'and more'];
    const verified = event(
      'iteration.verified',
      { passed: false, commands: [{ command: 'npm test', exit: 1, passed: false, output }] },
      2,
    );
    const settled = event('iteration.settled', { outcome: 'rejected', files: [] }, 2);
    const lines = eventLines(settled, folded(verified), { style, columns: 80 });
    expect(lines.slice(2)).toEqual([
      '      not ok 3 - rejects an empty name',
      '      AssertionError: expected 1',
      '      got 2',
    ]);
  });

  it('shows why the referee refuses what the commands pass, within the width of the terminal', () => {
    const reasons = [
      `npm test ran 12 fewer tests than on the base: ${'adds two numbers, '.repeat(30)}and so on`,
      'Restore the checks as they were.',
      'npm run lint failed (exit 2)',
    ];
    const commands = [
      { command: 'npm test', exit: 0, passed: true },
      { command: 'npm run lint', exit: 2, passed: false },
    ];
    const judgement = { verdict: 'rejected', reasons, flaky: ['npm test: \x1b[2Jslow'], changedCount: 1 };
    const verified = event('iteration.verified', { passed: false, commands, judgement }, 2);
    const settled = event('iteration.settled', { outcome: 'rejected', files: [] }, 2);
    const lines = eventLines(settled, folded(verified), { style, columns: 60 }).slice(1);
    expect(lines[0]).toBe('    npm run lint → exit 2');
    expect(lines[1]).toMatch(/^ {4}npm test ran 12 fewer tests than on the base: adds/);
    expect(lines[3]).toMatch(/…$/);
    expect(lines.slice(4)).toEqual(['    Restore the checks as they were.', '    flaky: npm test: slow']);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(60);
  });

  it('says of a failure that was there before that it was', () => {
    const commands = [{ command: 'npm test', exit: 1, passed: false }];
    const judgement = {
      ...{ verdict: 'accepted', reasons: [], changed: ['a (changed)'], changedCount: 2 },
      oldChecks: 'hold',
    };
    const verified = event('iteration.verified', { passed: false, commands, judgement }, 2);
    const settled = event('iteration.settled', { outcome: 'completed', signal: 'COMPLETE', files: [] }, 2);
    expect(eventLines(settled, folded(verified), { style, columns: 80 }).slice(1)).toEqual([
      '    npm test → exit 1, as on the base',
      '    changed checks: a (changed) and 1 more; the old ones hold too',
    ]);
  });

  it('names what an attempt does by what it is, and for how long', () => {
    const begun = [event('iteration.planned', {}, 1), event('iteration.started', { attempt: 1 }, 1)];
    const told = (data: object) => draw(folded(...begun, event('iteration.progress', { ...data }, 1)))[0];
    expect(told({ phase: 'setup', command: 'npm ci' })).toContain('setting up: npm ci (5.0s)');
    expect(told({ phase: 'judging', command: 'npm test' })).toContain('judging pulse_done: npm test');
    expect(told({ phase: 'verifying', command: 'npm test' })).toContain('verifying: npm test');
    expect(told({ phase: 'measuring', command: 'node bench.js' })).toContain('measuring: node bench.js');
    const working = folded(
      ...begun,
      event('iteration.progress', { phase: 'setup', command: 'npm ci' }, 1),
      event('agent.tool', { phase: 'start', name: 'Edit', summary: 'a.ts' }, 1),
    );
    expect(draw(working)[0]).toContain('agent working');
  });

  it('says how long nothing was heard, and keeps the latest sentence in sight', () => {
    const progress = folded(
      event('iteration.planned', {}, 1),
      event('agent.text', { text: 'I look at the parser.\n\n<signal>CONTINUE</signal>' }, 1),
      event('agent.tool', { phase: 'start', name: 'Bash', summary: 'npm test' }, 1),
    );
    const [first, ...rest] = draw(progress, 80, 42_000);
    expect(first).toContain('quiet for 42s');
    expect(rest).toEqual(['  Bash npm test', '  “I look at the parser.”']);
  });

  it('counts pulses and experiments', () => {
    const workflow = { ...session, kind: 'workflow' } as Session;
    const planned = event('iteration.planned', { unit: 'leave' }, 7);
    const pulses = { units: ['greet', 'leave'], total: null };
    expect(draw(advance(firstProgress(workflow, pulses), planned))[0]).toContain('pulse 2 of 2 (leave) · ');
    const research = { ...session, kind: 'research' } as Session;
    const third = event('iteration.planned', { unit: 'exp-3' }, 3);
    const six = { units: [], total: 6 };
    expect(draw(advance(firstProgress(research, six), third))[0]).toContain('experiment 3 of 6 · ');
  });

  it('cuts no answer off, however narrow the terminal', () => {
    expect(questionLines(INTERRUPT_ANSWERS, 79)).toHaveLength(1);
    const narrow = questionLines(INTERRUPT_ANSWERS, 39);
    expect(narrow.join(' ')).toContain('[a]bort');
    for (const line of narrow) expect(displayWidth(line)).toBeLessThanOrEqual(39);
  });

  it('says over a limit when it is over', () => {
    const warned = event('budget.warned', { limitUsd: 2, spentUsd: 4.4 }, 1);
    const lines = eventLines(warned, firstProgress(session), { style, columns: 80 });
    expect(lines).toEqual(['! over the cost limit: $4.40 of $2.00 spent']);
  });
});

describe('the result', () => {
  it('says the question and the exact command that answers it', () => {
    const text = resultBlock(
      { ...session, status: 'blocked', stop_reason: 'blocked_by_agent', blocked_reason: 'Which port?' },
      { style, cwd: '/repo' },
    );
    expect(text).toContain('Which port?');
    expect(text).toContain(`pulse resume ${session.id} --answer "…"`);
  });

  it('calls a completion that nothing verified unverified', () => {
    const done = {
      ...session,
      status: 'complete' as const,
      stop_reason: 'completed' as const,
      total_commits: 1,
    };
    expect(resultBlock(done, { style, cwd: '/repo' })).toContain('verified by npm test');
    expect(resultBlock({ ...done, verify: [] }, { style, cwd: '/repo' })).toContain('unverified');
    expect(resultBlock(done, { style, cwd: '/' })).toContain('git -C /repo diff main...pulse/do-it-abcd');
  });

  it('says how far it can be relied on, in the same word for every loop', () => {
    const done = { ...session, status: 'complete' as const, stop_reason: 'completed' as const };
    const said = (change: Partial<Session>, isMoved = false): string =>
      resultBlock({ ...done, ...change }, { style, cwd: '/repo', isMoved }).split('\n')[0]!;
    const changed = { trust: 'verified_checks_changed' as const };
    expect(said(changed)).toBe('✓ complete  verified, checks changed, by npm test');
    expect(said(changed, true)).toContain('stale: the branch has moved');
    expect(said({ trust: 'unverified', verify: [] }, true)).toContain('unverified: no verify command');
    expect(said({ kind: 'workflow', ...changed })).toBe(
      '✓ complete  reviewed and merged · verified, checks changed',
    );
    const waiting = { kind: 'workflow', status: 'blocked', stop_reason: 'approval_required' } as const;
    expect(said({ ...waiting, trust: 'verified' })).toBe('■ blocked  it waits for you · verified so far');
    expect(said({ kind: 'research', trust: null })).toBe('✓ complete  the target is reached');
  });
});
