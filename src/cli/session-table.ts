import { wordsFor } from '../loops/words.ts';
import type { RunnerState } from '../operations/view.ts';
import type { Session } from '../store/sessions.ts';
import { padTo, sanitizeLine, shorten } from '../terminal/text.ts';
import { ago } from '../terminal/time.ts';
import { endSuffix, STATUS_MARKS } from './follow/result.ts';
import type { Side } from './output.ts';

export interface ListedSession {
  session: Session;
  runner: RunnerState;
}

/** Aligned; on a terminal a session is called by the end of its id (`names`), in a pipe by the whole of it. */
export function sessionTable(
  rows: readonly ListedSession[],
  { style, columns, isTerminal }: Side,
  { nowMs, names }: { nowMs: number; names: ReadonlyMap<string, string> },
): string {
  // The longest status leaves little beside it.
  const projectWidth = isTerminal && columns() < 100 ? 10 : 20;
  const cells = rows.map(({ session, runner }) => ({
    session,
    id: isTerminal ? (names.get(session.id) ?? session.id) : session.id,
    status: statusText(session, runner),
    // What another loop may need in all is an inner bound, not a goal.
    iterations: wordsFor(session.kind).countsIterations
      ? `${session.current_iteration}/${session.max_iterations}`
      : String(session.current_iteration),
    age: ago(nowMs - Date.parse(session.created_at)),
    project: shorten(sanitizeLine(session.project_name), projectWidth),
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
      return `${painted}${shorten(sanitizeLine(cell.session.goal), room)}`.trimEnd();
    }),
  ].join('\n');
}

/** It should be running, and nobody runs it. */
export function isOrphan({ status }: Session, runner: RunnerState): boolean {
  return runner === 'none' && (status === 'running' || status === 'pending');
}

/** The status, and what it hides: no runner, how far a completion can be relied on. */
function statusText(session: Session, runner: RunnerState): string {
  if (isOrphan(session, runner)) return `${session.status} (no runner)`;
  if (session.status === 'running' && session.resume_at) return 'running (waiting)';
  return `${session.status}${endSuffix(session)}`;
}
