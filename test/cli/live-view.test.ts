/** What a followed session writes to a terminal: little, in few pieces, and what is true of it. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { gaugeLine } from '../../src/cli/follow/gauges.ts';
import { createLiveRegion } from '../../src/cli/follow/live-region.ts';
import { createLiveView } from '../../src/cli/follow/live-view.ts';
import { advance, firstProgress, withSession } from '../../src/cli/follow/progress.ts';
import { createView } from '../../src/cli/follow/view.ts';
import type { Output, Side } from '../../src/cli/output.ts';
import type { EventType, PulseEvent } from '../../src/domain/events.ts';
import type { Session } from '../../src/store/sessions.ts';
import { createStyle } from '../../src/terminal/style.ts';
import { displayWidth } from '../../src/terminal/text.ts';

const START = '2026-01-01T00:00:00.000Z';
const FRAME = '\x1b[?2026h';

const session = {
  ...{
    id: 'ses_1',
    kind: 'goal',
    goal: 'Do it',
    status: 'running',
    agent: 'demo',
    branch_name: 'pulse/do-it',
  },
  ...{ current_iteration: 0, max_iterations: 10, created_at: START, last_signal: null, spent_usd: 0 },
  ...{ total_tokens_used: 0, running_ms: 0, verify: ['npm test'], progress_log: [], budget_usd: 10 },
  ...{ budget_tokens: null, time_limit_ms: null, idle_timeout_ms: 600_000 },
} as unknown as Session;

function event(type: EventType, data: Record<string, unknown> = {}): PulseEvent {
  return { seq: 1, type, at: START, sessionId: session.id, iteration: 1, data };
}

function terminal(columns = 80) {
  const written: string[] = [];
  const stream = {
    write: (text: string) => written.push(text) > 0,
    rows: 24,
    on: () => stream,
    off: () => stream,
  };
  const side = {
    stream,
    isTerminal: true,
    style: createStyle(false),
    columns: () => columns,
    call: () => undefined,
  };
  return { side: side as unknown as Side, written, take: () => written.splice(0).join('') };
}

describe('the region that is drawn in place', () => {
  it('writes only the lines that changed, where they stand, and nothing where none did', () => {
    const { side, take } = terminal();
    const region = createLiveRegion(side);
    region.draw(['one', 'two', 'three']);
    take();
    region.draw(['one', 'TWO', 'three']);
    expect(take()).toBe(`${FRAME}\x1b[2A\r\x1b[KTWO\x1b[2B\r\x1b[?2026l`);
    region.draw(['one', 'TWO', 'three']);
    expect(take()).toBe('');
    region.draw(['one', 'TWO', 'three'], ['it stays']);
    expect(take()).toContain('it stays\none\nTWO\nthree\n');
    region.close();
    expect(take()).toContain('\x1b[?25h');
  });
});

it('tells a log the last line of each message of the agent, and no tag', () => {
  const { side } = terminal();
  const told: string[] = [];
  const output = {
    isJson: false,
    stderr: { ...side, isTerminal: false },
    talk: (text: string) => told.push(text),
  };
  const view = createView(output as unknown as Output, session, { hasHead: true });
  view.event(event('agent.text', { text: 'I look.\nIt is the cache.\n' }));
  view.event(event('agent.text', { text: '<signal>COMPLETE</signal>' }));
  expect(told).toEqual(['  1/10 │ It is the cache.']);
});

describe('the view of a session', () => {
  it('says that the session pauses after this iteration, for as long as that is to come', () => {
    const { side, take } = terminal();
    const view = createLiveView(side, session, { hasHead: true });
    view.event(event('iteration.started'));
    view.session(session, 'pause');
    view.close();
    expect(take()).toContain('it pauses after this iteration');
    const next = createLiveView(side, session, { hasHead: true });
    next.session(session, null);
    next.close();
    expect(take()).not.toContain('pauses');
  });

  it('draws at most eight times a second under a storm of events, and loses no line of them', async () => {
    const { side, written, take } = terminal();
    const view = createLiveView(side, session, { hasHead: true });
    const from = performance.now();
    let told = 0;
    while (performance.now() - from < 1_500) {
      for (let at = 0; at < 20; at++) {
        view.event(event('agent.text', { text: `sentence ${told}` }));
        view.event(event('note.added', { text: `number ${told++}.` }));
        view.session(session, null);
      }
      await delay(2);
    }
    view.close();
    const seconds = (performance.now() - from) / 1_000;
    const frames = written.filter((text) => text.includes(FRAME)).length;
    expect(told).toBeGreaterThan(200);
    expect(frames).toBeGreaterThan(2);
    // One more at each end: the first is drawn at once, the last shows what is left.
    expect(frames).toBeLessThanOrEqual(Math.ceil(seconds * 8) + 2);
    const notes = [...take().matchAll(/▸ note: number (\d+)\./g)].map(([, number]) => Number(number));
    expect(notes).toEqual(Array.from({ length: told }, (_, number) => number));
  });

  it.each([
    ['asks', 'Ctrl-C: pause, detach, abort'],
    ['leaves', 'Ctrl-C: stop watching, the session continues'],
  ] as const)(
    'says what Ctrl-C does where it %s, and where a browser shows the session',
    (interrupt, words) => {
      const { side, take } = terminal(50);
      const page = 'http://127.0.0.1:4321/s/ses_019a3f2c-7b1e-7000-8000-00000000abcd';
      const view = createLiveView(side, session, { hasHead: true, interrupt, page });
      view.event(event('session.started'));
      view.close();
      const shown = take();
      expect(shown).toContain(page);
      expect(shown).toContain(words.slice(0, 20));
      expect(shown.includes('pause, detach')).toBe(interrupt === 'asks');
    },
  );
});

describe('how near a session is to its limits', () => {
  const at = (progress: ReturnType<typeof firstProgress>, row = session, sinceMs = 60_000, columns = 200) =>
    gaugeLine(progress, row, { columns, nowMs: Date.parse(START) + sinceMs });
  const folded = (kind: string, ...events: PulseEvent[]) =>
    events.reduce(advance, firstProgress({ ...session, kind } as Session));

  it('shows how full the window of the agent is, and how long it may say nothing', () => {
    const working = folded(
      'goal',
      event('iteration.started', { attempt: 1 }),
      event('agent.usage', { scope: 'cumulative', contextTokens: 84_000, contextWindow: 200_000 }),
    );
    expect(at(working)).toBe('context ▰▰▰▱▱▱▱▱ 42% · idle ▰▱▱▱▱▱▱▱ 1m 00s of 10m 00s');
    expect(at(working, session, 9 * 60_000)).toContain('idle ▰▰▰▰▰▰▰▱ 9m 00s of 10m 00s');
    const more = advance(working, event('agent.usage', { costUsd: 1 }));
    expect(at(more)).toContain('context ▰▰▰▱▱▱▱▱ 42%');
    expect(at(advance(more, event('iteration.planned', {})))).toBe('');
    const untold = advance(working, event('agent.usage', { contextTokens: 84_000 }));
    expect(at(untold)).toContain('context 84.0k tokens');
  });

  it('shows the limit that is reached first', () => {
    const row = { ...session, spent_usd: 2.5, total_tokens_used: 90_000, budget_tokens: 100_000 } as Session;
    expect(at(withSession(folded('goal'), row), row)).toBe('budget ▰▰▰▰▰▰▰▱ 90% of tokens');
    const money = { ...row, budget_tokens: null } as Session;
    expect(at(withSession(folded('goal'), money), money)).toBe('budget ▰▰▱▱▱▱▱▱ 25% of cost');
  });

  it('counts refused claims in a row, and every file once', () => {
    const settled = (outcome: string, ...files: string[]) => event('iteration.settled', { outcome, files });
    const twice = folded('goal', settled('rejected', 'a', 'b'), settled('rejected', 'b', 'c'));
    expect(at(twice)).toBe('rejected 2/3 · 3 files so far');
    expect(at(advance(twice, settled('continued', 'a')))).toBe('3 files so far');
    const earlier = [{ files: ['z', 'a'] }] as Session['progress_log'];
    expect(at(withSession(twice, { ...session, progress_log: earlier } as Session))).toContain(
      '4 files so far',
    );
  });

  it('shows the best experiment and the newest reading', () => {
    const kept = folded(
      'research',
      event('experiment.kept', { number: 2, metric: 83.791 }),
      event('experiment.discarded', { number: 3, metric: 99 }),
      event('experiment.discarded', { number: 4, metric: null }),
    );
    expect(at(kept)).toBe('best 83.791 (#2) · last 99 (#3)');
  });

  it('leaves out what has no room, and never a part of it', () => {
    const full = folded(
      'goal',
      event('iteration.settled', { outcome: 'rejected', files: ['a'] }),
      event('iteration.started', { attempt: 1 }),
      event('agent.usage', { contextTokens: 84_000, contextWindow: 200_000 }),
    );
    for (let columns = 0; columns < 90; columns++) {
      const line = at(full, session, 1_000, columns);
      expect(displayWidth(line)).toBeLessThanOrEqual(columns);
      for (const part of line.split(' · ').filter(Boolean)) expect(at(full, session, 1_000)).toContain(part);
    }
  });
});
