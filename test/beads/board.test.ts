/** A swarm at a glance, and what its followers read. */
import { expect, it } from 'vitest';
import { boardLines } from '../../src/loops/beads/cli/board.ts';
import { beadsFollower } from '../../src/loops/beads/cli/follower.ts';
import { displayWidth } from '../../src/terminal/text.ts';

const plain = (text: string) => text;
const style = new Proxy({}, { get: () => plain }) as never;
const nowMs = Date.parse('2026-01-01T00:01:00.000Z');
const at = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();

const idle = { ...{ sessionId: 's', mailName: null, contextUsed: null, leftFor: null }, isWaiting: false };
const worker = (nickname: string, more: object) =>
  ({ ...idle, nickname, status: 'running', bead: null, doing: null, ...more }) as never;
const bead = (id: string, status: string) =>
  ({ id, status, title: id, worker: null, commit: null, reason: null, closedAt: null }) as never;

const WORKERS = [
  worker('worker-1', { bead: 'shop-1', doing: { text: 'verifying: npm test', since: at(12) } }),
  worker('worker-2', { bead: 'shop-22', isWaiting: true, contextUsed: 0.614 }),
  worker('worker-3', { bead: 'shop-3', doing: { text: 'agent working', since: at(0) } }),
  worker('worker-4', {}),
  worker('worker-5', { status: 'pending' }),
  worker('gone', { status: 'failed' }),
];
const BEADS = ['closed', 'closed', 'in_progress', 'in_progress', 'in_progress', 'open', 'blocked'].map(
  (status, index) => bead(`shop-${index}`, status),
);

it('says how many beads are closed, what waits, and what each worker does', () => {
  expect(boardLines({ workers: WORKERS, beads: BEADS }, { style, columns: 100, nowMs })).toEqual([
    '  2 of 7 beads closed · 3 in progress · 1 open · 1 blocked · 1 waits to be merged',
    '  worker-1  shop-1   verifying: npm test (12s)',
    '  worker-2  shop-22  waits to be merged  context 61%',
    '  worker-3  shop-3   agent working',
    '  worker-4           waits for a bead',
    '  worker-5           begins',
  ]);
});

it('fits a narrow terminal, and shows nothing that moves the cursor', () => {
  const evil = worker('worker-1', {
    bead: 'a\u001b[2J',
    doing: { text: `x\u001b[31m${'y'.repeat(200)}`, since: at(1) },
  });
  const lines = boardLines({ workers: [evil, ...WORKERS], beads: BEADS }, { style, columns: 40, nowMs });
  for (const line of lines) {
    expect(displayWidth(line), line).toBeLessThanOrEqual(40);
    expect(line).not.toContain('\u001b');
  }
});

it('tells the first line of each reason, and of its own iterations nothing', () => {
  const told = (type: string, data: object) =>
    beadsFollower.eventLines!({ type, data } as never, {} as never, { style, columns: 60 });
  expect(
    told('bead.rejected', {
      bead: 'a',
      reasons: ['`npm test`: exit 1\nlong\noutput', 'b.txt is not in scope'],
    }),
  ).toEqual(['a not accepted', '    `npm test`: exit 1', '    b.txt is not in scope']);
  expect(told('bead.blocked', { bead: 'a', title: 'A', reason: 'why\nmore' })).toEqual([
    '✗ a A is blocked',
    '    why',
  ]);
  expect(told('iteration.settled', { outcome: 'completed' })).toEqual([]);
  expect(told('iteration.settled', { outcome: 'crashed' })).toBeNull();
});
