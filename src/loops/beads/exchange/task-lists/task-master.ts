/** `tasks.json` of task-master: tasks with subtasks, in one list or in a list for each tag. */
import { EPIC, slug } from '../../graph/bead.ts';
import { asObjects, faulty, paragraphs, section, type Task, textOf } from './task-list.ts';

type Json = Record<string, unknown>;

export function isTaskMaster(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Array.isArray((value as Json).tasks) || Object.values(value).some(isTag);
}

function isTag(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && Array.isArray((value as Json).tasks);
}

export function readTaskMaster(file: Json): Task[] {
  const tags = Array.isArray(file.tasks)
    ? [['master', file] as const]
    : Object.entries(file).flatMap(([tag, value]) => (isTag(value) ? [[tag, value] as const] : []));
  return tags.flatMap(([tag, value]) => readTag(tag, value));
}

/** Ids begin with the tag, for each tag counts from 1. */
function readTag(tag: string, value: Json): Task[] {
  const prefix = slug(tag);
  const meta = (value.metadata ?? value.meta ?? {}) as Json;
  const title = textOf(meta.projectName) || textOf(meta.description) || tag;
  const epic: Task = { id: prefix, title, type: EPIC };
  const tasks = asObjects(value.tasks, `tasks of ${tag}`).flatMap((task) => readTask(task, prefix));
  return [epic, ...tasks.map((task) => ({ ...task, epic: epic.id }))];
}

/** A task waits for its subtasks: it is done when they are. */
function readTask(task: Json, prefix: string): Task[] {
  const number = textOf(task.id);
  const subtasks = task.subtasks === undefined ? [] : asObjects(task.subtasks, `subtasks of ${number}`);
  const parts = subtasks.map((subtask) =>
    describe(subtask, { prefix, number: `${number}.${textOf(subtask.id)}`, parent: number }),
  );
  const own = describe(task, { prefix, number, parent: null });
  return [{ ...own, waitsFor: [...(own.waitsFor ?? []), ...parts.map(({ id }) => id)] }, ...parts];
}

function describe(
  task: Json,
  { prefix, number, parent }: { prefix: string; number: string; parent: string | null },
): Task {
  if (textOf(task.id) === '') throw faulty('a task has no id');
  const isSubtask = parent !== null;
  return {
    id: `${prefix}-${number}`,
    title: textOf(task.title),
    body: paragraphs(
      textOf(task.description),
      section('Details', textOf(task.details)),
      section('How it is tested', textOf(task.testStrategy)),
    ),
    priority: PRIORITIES[textOf(task.priority)] ?? PRIORITIES.medium!,
    status: statusOf(textOf(task.status)),
    waitsFor: (Array.isArray(task.dependencies) ? task.dependencies : []).map((each) => {
      const named = textOf(each);
      // Within subtasks a plain number is a neighbour.
      return `${prefix}-${isSubtask && typeof each === 'number' && Number.isInteger(each) ? `${parent}.${named}` : named}`;
    }),
  };
}

const PRIORITIES: Readonly<Record<string, number>> = { critical: 0, high: 1, medium: 2, low: 3 };

function statusOf(status: string): Task['status'] {
  if (status === 'done' || status === 'completed')
    return { done: 'Completed: it was done before it was imported' };
  if (status === 'cancelled') return { done: 'Cancelled before it was imported' };
  return status === 'blocked' || status === 'deferred' ? 'blocked' : 'open';
}
