/** Tells a pulse's run how the run before it ended, because its agent may remember nothing. */
import { fenced } from '../../context/fence.ts';
import type { SessionState } from '../../engine/loop.ts';
import { findTask } from '../../store/inbox.ts';
import type { Store } from '../../store/store.ts';
import type { Extension } from './model.ts';
import type { PulseRow } from './rows.ts';
import { readRun } from './work-data.ts';

/** `null` for the pulse's first run. */
export async function describePreviousRun(
  store: Store,
  { state, pulse }: { state: SessionState; pulse: PulseRow },
): Promise<string | null> {
  const [last] = state.recent;
  if (pulse.runs <= 1 || last === undefined) return null;
  const { inbox_task_id: taskId, outcome } = last;
  const task = taskId ? await store.read((db) => findTask(db, taskId)) : null;
  const extension = task?.result ? readRun(task.result).extension : null;
  if (extension) return extended(extension);
  if (outcome === 'timeout')
    return 'The run before this one was ended by a time limit. Its work is in the tree.';
  if (outcome === 'blocked') {
    const answered = state.control.answer === null ? '' : ' A person was asked; the answer is above.';
    return `The run before this one ended before it was done.${answered} Its work is in the tree.`;
  }
  if (outcome === 'crashed') return 'The run before this one broke off. Look at what is in the tree.';
  return 'The run before this one ended without pulse_done or request_extension. Its work is in the tree.';
}

function extended({ reason, completed, remaining }: Extension): string {
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `- ${line}`)];
  const told = [reason, ...list('Completed:', completed), ...list('Remaining:', remaining)];
  return `The run before this one asked for this one. Its work is in the tree; continue with what remains. It said:\n\n${fenced(told.join('\n'))}`;
}
