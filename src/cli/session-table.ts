import { formatDuration } from '../domain/durations.ts';
import type { RunnerState } from '../operations/view.ts';
import type { Session } from '../store/sessions.ts';
import { isUnverified, STATUS_MARKS } from './follow/result.ts';
import type { Side } from './output.ts';
import { padTo, shorten, shownLine } from './terminal/text.ts';

export interface ListedSession {
  session: Session;
  runner: RunnerState;
}

/** Aligned; on a terminal ids are cut to what `ID` arguments accept, in a pipe they are whole. */
export function sessionTable(
  rows: readonly ListedSession[],
  { style, columns, isTerminal }: Side,
  nowMs: number,
): string {
  const length = isTerminal ? uniqueLength(rows.map(({ session }) => session.id)) : Number.POSITIVE_INFINITY;
  const cells = rows.map(({ session, runner }) => ({
    session,
    id: session.id.slice(0, length),
    status: statusText(session, runner),
    iterations: `${session.current_iteration}/${session.max_iterations}`,
    age: ago(nowMs - Date.parse(session.created_at)),
    project: shorten(shownLine(session.project_name), 20),
  }));
  const head = { id: 'ID', status: 'STATUS', iterations: 'ITER', age: 'AGE', project: 'PROJECT' };
  const width = (key: keyof typeof head): number =>
    Math.max(...[head, ...cells].map((cell) => cell[key].length));
  const keys = ['id', 'status', 'iterations', 'age', 'project'] as const;
  const widths = keys.map(width);
  const used = widths.reduce((sum, size) => sum + size + 2, 0);
  const room = isTerminal ? Math.max(10, columns() - used) : 200;
  const line = (cell: typeof head, paint: (text: string, key: string) => string): string =>
    keys.map((key, index) => paint(padTo(cell[key], widths[index]! + 2), key)).join('');
  return [
    style.dim(`${line(head, (text) => text)}GOAL`),
    ...cells.map((cell) => {
      const color = STATUS_MARKS[cell.session.status].color;
      const painted = line(cell, (text, key) => (key === 'status' ? style[color](text) : text));
      return `${painted}${shorten(shownLine(cell.session.goal), room)}`.trimEnd();
    }),
  ].join('\n');
}

/** It should be running, and nobody runs it. */
export function isOrphan({ status }: Session, runner: RunnerState): boolean {
  return runner === 'none' && (status === 'running' || status === 'pending');
}

/** The status, and what it hides: no runner, nothing verified, why it is blocked. */
function statusText(session: Session, runner: RunnerState): string {
  if (isOrphan(session, runner)) return `${session.status} (no runner)`;
  if (session.status === 'running' && session.resume_at) return 'running (waiting)';
  if (isUnverified(session)) return 'complete (unverified)';
  return session.status;
}

function ago(ms: number): string {
  if (ms < 60_000) return 'now';
  if (ms < 86_400_000) return formatDuration(ms).replace(/ \d+s$/, '');
  return `${Math.floor(ms / 86_400_000)}d`;
}

/** Thirteen characters of a UUIDv7 are its millisecond; more only where two sessions share one. */
function uniqueLength(ids: readonly string[]): number {
  for (let length = 'ses_019a3f2c-7b1e'.length; length < 40; length++) {
    if (new Set(ids.map((id) => id.slice(0, length))).size === ids.length) return length;
  }
  return 40;
}
