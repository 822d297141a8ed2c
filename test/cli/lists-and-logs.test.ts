/** What lists and logs show: figures that mean something, times of the person's own clock, words instead of JSON. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventText } from '../../src/cli/event-text.ts';
import type { Side } from '../../src/cli/output.ts';
import { overviewLines } from '../../src/cli/overview-lines.ts';
import { sessionTable } from '../../src/cli/session-table.ts';
import { ATTENTION_GROUPS } from '../../src/domain/attention.ts';
import { EVENT_TYPES, type PulseEvent } from '../../src/domain/events.ts';
import type { Overview, OverviewEntry } from '../../src/operations/overview.ts';
import type { Session } from '../../src/store/sessions.ts';
import { createStyle } from '../../src/terminal/style.ts';
import { localClock, localTime } from '../../src/terminal/time.ts';

const style = createStyle(false);
const NOW = '2026-01-01T20:30:00.000Z';

function inZone(zone: string): void {
  vi.stubEnv('TZ', zone);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe('a list of sessions', () => {
  it('counts to the limit where that is the goal’s, and only counts in other loops', () => {
    const row = (kind: string) => ({
      session: {
        ...{ id: `ses_${kind}`, kind, goal: 'Go', status: 'running', project_name: 'project' },
        ...{ current_iteration: 0, max_iterations: 101, created_at: NOW, trust: null, stop_reason: null },
      } as unknown as Session,
      runner: 'alive' as const,
    });
    const side = { style, columns: () => 120, isTerminal: false } as unknown as Side;
    const told = { nowMs: Date.parse(NOW), names: new Map() };
    const [, goal, workflow, research] = sessionTable(
      ['goal', 'workflow', 'research'].map(row),
      side,
      told,
    ).split('\n');
    expect(goal).toContain(' 0/101 ');
    for (const line of [workflow, research]) expect(line).not.toContain('/101');
  });
});

describe('the morning view', () => {
  it('names a time for what is tried again then, and none for what waits for a slot', () => {
    const text = 'waits for a free agent slot (1 of 1 in use)';
    const entry = (given: Partial<OverviewEntry>) =>
      ({
        ...{ id: 'ses_1', short: '0001', kind: 'goal', goal: 'Go', project_name: 'app', agent: 'demo' },
        ...{ status: 'running', spent_usd: 0, created_at: NOW, started_at: NOW, ended_at: null },
        ...{ resume_at: null, doing: null, runner: 'alive', ...given },
      }) as unknown as OverviewEntry;
    const waiting = [
      entry({ doing: { text, since: NOW, lastSign: NOW } }),
      entry({ resume_at: '2026-01-01T22:00:00.000Z' }),
    ];
    const none = Object.fromEntries(ATTENTION_GROUPS.map((group) => [group, []]));
    const overview = { groups: { ...none, waiting }, counts: { waiting: 2 } } as unknown as Overview;
    const side = { style, columns: () => 120, isTerminal: false } as unknown as Side;
    const told = overviewLines(overview, side, Date.parse(NOW)).join('\n');
    expect(told).toContain(`${text} for 0.0s`);
    expect(told).not.toContain('1970');
    expect(told.match(/then demo is tried again/g)).toHaveLength(1);
  });
});

describe('a time', () => {
  it('is that of the clock on the wall, with its own date where that is not today’s', () => {
    inZone('Asia/Tokyo');
    expect(localClock(NOW)).toBe('05:30:00');
    expect(localTime(NOW, Date.parse(NOW))).toBe('05:30:00');
    expect(localTime(NOW, Date.parse('2026-01-01T10:00:00Z'))).toBe('2026-01-02 05:30:00');
    inZone('America/New_York');
    expect(localClock(NOW)).toBe('15:30:00');
  });

  it('is the same in the log', () => {
    inZone('Asia/Tokyo');
    const event = { seq: 1, type: 'session.created', at: NOW, sessionId: 's', data: {} } as PulseEvent;
    expect(eventText(event, style)).toMatch(/^05:30:00 /);
  });
});

it.each(EVENT_TYPES)('the log has words for %s', (type) => {
  const event: PulseEvent = {
    seq: 1,
    type,
    at: NOW,
    sessionId: 's',
    iteration: 1,
    data: { odd: true, phase: 'agent' },
  };
  expect(eventText(event, style)).not.toContain('{"odd"');
});
