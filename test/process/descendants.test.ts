import { expect, it } from 'vitest';
import { KnownProcesses } from '../../src/process/descendants.ts';
import { type ProcessStat, parseStat } from '../../src/process/process-table.ts';
import { openPsTable, parseLsof } from '../../src/process/process-table-ps.ts';

function stat(pid: number, startTime: number, kin: Partial<ProcessStat> = {}): ProcessStat {
  const own = { parent: 1, group: pid, session: pid, hasTerminal: false, isZombie: false, name: 'x' };
  return { pid, startTime, ...own, ...kin };
}
const pids = (stats: ProcessStat[]) => stats.map(({ pid }) => pid).sort();

it('takes in children of children in any order, and tells of each once', () => {
  const seen: number[] = [];
  const known = new KnownProcesses({ pid: 10, startTime: 5 }, ({ pid }) => seen.push(pid));
  const table = [stat(12, 7, { parent: 11 }), stat(11, 6, { parent: 10 }), stat(10, 5), stat(20, 6)];
  expect(pids(known.grow(table))).toEqual([10, 11, 12]);
  expect(pids(known.grow(table))).toEqual([10, 11, 12]);
  expect(seen.sort()).toEqual([11, 12]);
});

it('knows a descendant after its parents are gone', () => {
  const known = new KnownProcesses({ pid: 10, startTime: 5 });
  known.grow([stat(10, 5), stat(11, 6, { parent: 10 })]);
  expect(pids(known.grow([stat(11, 6)]))).toEqual([11]);
});

it('takes in an orphan by its group or session, though the leader is gone', () => {
  const known = new KnownProcesses({ pid: 10, startTime: 5 });
  known.grow([stat(10, 5), stat(11, 6, { parent: 10, group: 10, session: 10 })]);
  expect(pids(known.grow([stat(11, 6, { session: 10 }), stat(12, 8, { session: 10 })]))).toEqual([11, 12]);
});

it('does not take a pid that was given on for a member, nor its children', () => {
  const known = new KnownProcesses({ pid: 10, startTime: 5 });
  known.grow([stat(10, 5), stat(11, 6, { parent: 10 })]);
  expect(known.grow([stat(11, 9), stat(12, 10, { parent: 11 })])).toEqual([]);
});

it('reads a stat line whose name holds brackets and spaces', () => {
  const line = '42 (a) b (c) S 7 42 41 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2';
  const expected = { pid: 42, name: 'a) b (c', parent: 7, group: 42, session: 41, startTime: 987654 };
  expect(parseStat(line)).toEqual({ ...expected, hasTerminal: true, isZombie: false });
  expect(parseStat('')).toBeNull();
});

it('reads what ps and lsof print where there is no /proc', () => {
  const table = openPsTable(
    '  501     1   501 ??       Ss   Mon Nov 10 09:15:01 2025     /sbin/agent --x HOME=/u PULSE_RUN_ID=itr_1 A=b\n' +
      '  502   501   501 ttys001  Z    Mon Nov 10 09:15:02 2025     (sleep)\nnot a row\n',
  );
  expect(table.pids()).toEqual([501, 502]);
  expect(table.stat(501)).toMatchObject({ parent: 1, hasTerminal: false, isZombie: false });
  expect(table.stat(501)!.startTime).toBe(Date.parse('Mon Nov 10 09:15:01 2025'));
  expect(table.stat(502)).toMatchObject({ parent: 501, hasTerminal: true, isZombie: true });
  expect(table.hasVariable(501, 'PULSE_RUN_ID=itr_1')).toBe(true);
  expect(table.hasVariable(501, 'PULSE_RUN_ID=itr_')).toBe(false);
  expect(table.valuesOf(501, 'PULSE_RUN_ID')).toEqual(['itr_1']);
  expect(parseLsof('p501\nfcwd\nn/Users/u/known\np502\nfcwd\nn/\n')).toEqual(
    new Map([
      [501, '/Users/u/known'],
      [502, '/'],
    ]),
  );
});
