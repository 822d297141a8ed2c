/** The board of all sessions: what keys do, and that it fits into any terminal whatever people wrote. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Board,
  callFor,
  FIRST,
  press,
  refresh,
  rowsOf,
  selectedRow,
} from '../../src/cli/watch-all/board.ts';
import { drawBoard, type Frame } from '../../src/cli/watch-all/lines.ts';
import type { AttentionGroup } from '../../src/domain/attention.ts';
import type { Overview, OverviewEntry } from '../../src/operations/overview.ts';
import type { Session } from '../../src/store/sessions.ts';
import { createStyle } from '../../src/terminal/style.ts';
import { displayWidth } from '../../src/terminal/text.ts';

const NOW = '2026-01-01T10:00:00.000Z';

function entry(short: string, given: Partial<OverviewEntry> = {}): OverviewEntry {
  return {
    ...{ id: `ses_${short}`, short, goal: `Goal ${short}`, project_name: 'app', kind: 'goal', agent: 'demo' },
    ...{ status: 'running', stop_reason: null, blocked_reason: null, branch_name: `pulse/${short}` },
    ...{ current_iteration: 1, max_iterations: 10, spent_usd: 0.5, budget_usd: 10, running_ms: 1000 },
    ...{ created_at: NOW, started_at: NOW, ended_at: null, resume_at: null, doing: null, verify: [] },
    ...given,
  } as unknown as OverviewEntry;
}

function overview(groups: Partial<Record<AttentionGroup, OverviewEntry[]>>): Overview {
  const all = { ...FIRST.overview.groups, ...groups };
  const counts = Object.fromEntries(Object.entries(all).map(([name, list]) => [name, list.length]));
  return { groups: all, counts: counts as Overview['counts'] };
}

const ASKING = entry('ask1', {
  status: 'blocked',
  stop_reason: 'blocked_by_agent',
  blocked_reason: '80 or 8080?',
});
const FAILED = entry('bad1', { status: 'failed', stop_reason: 'agent_error' });
const RUNNING = entry('run1', { doing: { text: 'agent working', since: NOW, lastSign: NOW } });
const board = refresh(FIRST, overview({ needs_you: [ASKING], failed: [FAILED], running: [RUNNING] }));

const type = (from: Board, ...typed: string[]) =>
  typed.reduce(
    ({ board: now }, one) =>
      press(now, /^<.*>$/.test(one) ? { name: one.slice(1, -1) as never } : { text: one }, 10),
    { board: from } as ReturnType<typeof press>,
  );
const selected = (at: Board) => selectedRow(at)?.entry.short;

describe('the board of all sessions', () => {
  it('begins with what needs a person, and moves with j, k and the arrows', () => {
    expect(selected(board)).toBe('ask1');
    expect(selected(type(board, 'j', 'j').board)).toBe('run1');
    expect(selected(type(board, 'j', 'j', 'j', 'k', '<up>', '<up>').board)).toBe('ask1');
    expect(selected(type(board, 'G').board)).toBe('run1');
    expect(selected(type(board, '<tab>').board)).toBe('bad1');
    expect(selected(type(board, '<tab>', 'n').board)).toBe('ask1');
  });

  it('asks for nothing by moving, and leaves at q and Ctrl-C', () => {
    expect(type(board, 'j', 'k', '<page_down>', '<escape>', '?', 'z').request).toBeUndefined();
    expect(type(board, 'q').request).toEqual({ do: 'leave' });
    expect(type(board, '<interrupt>').request).toEqual({ do: 'leave' });
  });

  it('answers the session that asks, with the words as they were typed', () => {
    const pressed = type(board, 'a', 'jqx', '<backspace>', ' für ß', '<enter>');
    expect(pressed.request).toEqual({ do: 'answer', id: 'ses_ask1', text: 'jq für ß' });
    expect(pressed.board.prompt).toBeNull();
    expect(type(board, 'a', ' ', '<enter>').request).toBeUndefined();
    expect(type(board, 'a', 'x', '<escape>').board.prompt).toBeNull();
    expect(type(board, 'G', 'a').board).toMatchObject({
      prompt: null,
      said: expect.stringContaining('note'),
    });
  });

  it('aborts only after a second key, and never by a paste', () => {
    expect(type(board, 'x').request).toBeUndefined();
    expect(type(board, 'x', 'y').request).toEqual({ do: 'abort', id: 'ses_ask1' });
    expect(type(board, 'x', 'n').request).toBeUndefined();
    expect(type(board, 'xy').request).toBeUndefined();
    expect(type(board, ':', 'abort', '<enter>').request).toBeUndefined();
  });

  it('takes what comes in one piece over a slow line as if it were typed key by key', () => {
    expect(rowsOf(type(board, '/run').board)).toHaveLength(1);
    expect(type(board, 'a8080', '<enter>').request).toEqual({ do: 'answer', id: 'ses_ask1', text: '8080' });
    expect(type(board, 'jjp').request).toEqual({ do: 'pause', id: 'ses_run1' });
  });

  it('takes commands by their words', () => {
    const asked = (text: string) => type(board, ':', text, '<enter>');
    expect(asked('note use 8080').request).toEqual({ do: 'note', id: 'ses_ask1', text: 'use 8080' });
    expect(asked('pause').request).toEqual({ do: 'pause', id: 'ses_ask1' });
    expect(asked('note').request).toBeUndefined();
    expect(asked('rm -rf').board.said).toContain('There is no command rm');
  });

  it('shows only what has the letters, and all again at Escape', () => {
    const filtered = type(board, '/', 'RUN').board;
    expect(rowsOf(filtered).map(({ entry: { short } }) => short)).toEqual(['run1']);
    expect(rowsOf(type(filtered, '<enter>', '<escape>').board)).toHaveLength(3);
    expect(type(filtered, '<enter>', 'p').request).toEqual({ do: 'pause', id: 'ses_run1' });
  });

  it('keeps the cursor on its session when others come and go', () => {
    const on = type(board, 'j').board;
    const more = refresh(
      on,
      overview({ needs_you: [entry('new1', { status: 'blocked' }), ASKING], failed: [FAILED] }),
    );
    expect(selected(more)).toBe('bad1');
    expect(selected(refresh(more, overview({ needs_you: [ASKING] })))).toBe('ask1');
    expect(selected(refresh(more, overview({})))).toBeUndefined();
  });

  it('scrolls long texts within their ends', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    const open: Board = { ...board, pages: { title: 'Changes', lines, top: 0 } };
    expect(type(open, 'k').board.pages!.top).toBe(0);
    expect(type(open, ' ', 'j').board.pages!.top).toBe(11);
    expect(type(open, 'G', 'j').board.pages!.top).toBe(20);
    expect(type(open, 'q')).toMatchObject({ board: { pages: null } });
  });
});

const frame = (columns: number, rows: number, detail: Session | null = null): Frame => ({
  ...{ style: createStyle(false), columns, rows, detail },
  figures: { todayUsd: 14.2, experiments: new Map([['ses_res1', 2]]) },
  nowMs: Date.parse(NOW) + 5_000,
});

describe('the board as it is drawn', () => {
  it('says what needs a person, what each session does, and the keys', () => {
    const { rows } = drawBoard(board, frame(80, 24));
    expect(rows[0]).toMatch(/Pulse {2}1 need you {2}1 failed {2}1 working +\$14\.20 today {2}\d\d:\d\d $/);
    expect(rows[1]).toMatch(/^>■ ask1 app 1\/10 Goal ask1 {2}asks: 80 or 8080\? +\$0\.50 /);
    expect(rows[3]).toMatch(/^ ● run1 .*agent working .* 5s$/);
    expect(rows.at(-1)).toMatch(/a answer .* q$/);
    expect(rows).toHaveLength(24);
  });

  it('says what a session waits for that has no time to wait until', () => {
    const text = 'waits for a free agent slot (1 of 1 in use)';
    const queued = entry('wait', { doing: { text, since: NOW, lastSign: NOW } });
    const limited = entry('late', { resume_at: '2026-01-01T12:00:00.000Z' });
    const { rows } = drawBoard(refresh(FIRST, overview({ waiting: [queued, limited] })), frame(100, 24));
    expect(rows[1]).toContain(text);
    expect(rows[2]).toMatch(/waits until \d\d:\d\d/);
    expect(rows.join('\n').match(/waits until/g)).toHaveLength(1);
  });

  it('says how far each is, and shows no count above its limit as a part of it', () => {
    const runs = { current_iteration: 16, max_iterations: 12 };
    const swarm = { kind: 'beads', current_iteration: 2, max_iterations: 1_000_000 };
    const running = [
      entry('goa1', runs),
      entry('swa1', swarm),
      entry('wor1', { kind: 'workflow', current_iteration: 1, max_iterations: 9 }),
      entry('res1', { kind: 'research', current_iteration: 4, max_iterations: 7 }),
    ];
    const { rows } = drawBoard(refresh(FIRST, overview({ running })), frame(80, 24));
    const shown = rows.slice(1, 5).map((row) => /app +(.*?) Goal/.exec(row)?.[1]);
    expect(shown).toEqual(['16 runs', '2 runs', '1 run', '2 experiments']);
    expect(rows.join('\n')).not.toMatch(/16\/12|1000000/);
  });

  it('has the cost of each row below the others, and claims none that is not known', () => {
    const spent = (short: string, usd: number, tokens: number) =>
      entry(short, { spent_usd: usd, total_tokens_used: tokens } as Partial<OverviewEntry>);
    const running = [spent('a', 1.2, 9), spent('b', 12.5, 9), spent('c', 0, 12_345), spent('d', 0, 0)];
    const { rows } = drawBoard(refresh(FIRST, overview({ running })), frame(80, 24));
    const costs = rows.slice(1, 5).map((row) => row.slice(0, -' now '.length).slice(-9));
    expect(costs).toEqual(['    $1.20', '   $12.50', '12.3k tok', '        –']);
  });

  it('names no project where the terminal is narrow: the goal needs the room', () => {
    const row = (columns: number) => drawBoard(board, frame(columns, 24)).rows[1]!;
    expect(row(80)).toContain('ask1 app ');
    expect(row(50)).not.toContain(' app ');
    expect(row(50)).toContain('Goal ask1');
  });

  it('has a cursor where something is typed, at the end of it', () => {
    const { rows, cursor } = drawBoard(type(board, 'a', '漢 ok').board, frame(80, 24));
    expect(rows.at(-1)).toBe(' answer: 漢 ok');
    expect(cursor).toEqual({ row: 23, column: displayWidth(' answer: 漢 ok') });
  });

  it('fits whatever was written, in any terminal', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\x1b[31mred\x07', '漢字'.repeat(50), 'a\nb\r\n\tc', '👩‍🚀'.repeat(9)),
    );
    fc.assert(
      fc.property(
        text,
        text,
        fc.integer({ min: 40, max: 200 }),
        fc.integer({ min: 5, max: 60 }),
        (goal, why, columns, height) => {
          const asking = { ...ASKING, goal, blocked_reason: why, project_name: goal, branch_name: why };
          const log = [{ iteration: 1, signal: 'CONTINUE', summary: why, commit: 'abc', files: [], at: NOW }];
          const detail = { ...asking, progress_log: log } as unknown as Session;
          const shown = refresh(FIRST, overview({ needs_you: [asking], running: [{ ...RUNNING, goal }] }));
          for (const at of [
            shown,
            type(shown, 'a', goal || 'x').board,
            type(shown, '?').board,
            type(shown, 'x').board,
          ]) {
            const { rows } = drawBoard(at, frame(columns, height, detail));
            expect(rows.length).toBeLessThanOrEqual(height);
            for (const row of rows) {
              expect(displayWidth(row), JSON.stringify(row)).toBeLessThanOrEqual(columns);
              expect(row).not.toMatch(/\p{Cc}/u);
            }
          }
        },
      ),
    );
  });
});

describe('a session that stops', () => {
  it('calls the person, once, with the others that did', () => {
    const before = overview({ needs_you: [ASKING], running: [RUNNING] });
    const done = { ...RUNNING, status: 'complete' } as OverviewEntry;
    expect(callFor(before, before)).toBeNull();
    expect(callFor(before, overview({ needs_you: [ASKING], done: [done] }))).toBe('complete: Goal run1');
    expect(callFor(before, overview({ failed: [FAILED], done: [done] }))).toBe(
      'failed: Goal bad1 (and 1 more)',
    );
    // Answered: it works again, and nobody is called.
    expect(callFor(before, overview({ running: [RUNNING, ASKING] }))).toBeNull();
  });
});
