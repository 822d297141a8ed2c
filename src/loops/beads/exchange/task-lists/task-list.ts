/** A list of tasks that is no issue file, as beads that still have to be planned. */
import { createHash } from 'node:crypto';
import { PulseError } from '../../../../domain/errors.ts';
import {
  BLOCKS,
  type Dependency,
  EPIC,
  evidencePath,
  isBeadId,
  PARENT,
  slug,
  USUAL_PRIORITY,
} from '../../graph/bead.ts';
import type { BeadContent } from '../../graph/rows.ts';
import { MOST_TITLE } from '../../graph/validate.ts';

export interface Task {
  /** The same each time the list is read. */
  id: string;
  title: string;
  body?: string;
  type?: string;
  priority?: number;
  /** `done`: how it was closed. */
  status?: 'open' | 'blocked' | { done: string };
  labels?: string[];
  /** Ids of tasks in the list. */
  waitsFor?: string[];
  /** The id of an epic in the list. */
  epic?: string;
}

/** What `now` is, and what made-up ids begin with. */
export interface ListOptions {
  now: string;
  /** The name of the file without its ending. */
  name: string;
}

/** In the order of the list, which their age keeps. */
export function tasksToBeads(tasks: readonly Task[], { now }: ListOptions): BeadContent[] {
  const began = Date.parse(now);
  const epics = new Map(tasks.filter(({ type }) => type === EPIC).map((task) => [task.id, task]));
  refuseTwice(tasks);
  return tasks.map((task, index) => {
    const at = new Date(began + index).toISOString();
    const { status = 'open', type = 'task', epic } = task;
    const feature = slug(epics.get(epic ?? '')?.title ?? 'general');
    const isDone = typeof status === 'object';
    return {
      id: task.id,
      title: task.title.slice(0, MOST_TITLE).toWellFormed(),
      type,
      status: isDone ? 'closed' : status,
      priority: task.priority ?? USUAL_PRIORITY,
      body: task.body ?? '',
      labels: task.labels ?? [],
      dependencies: dependenciesOf(task),
      // What is to be changed and how it is verified is for a person, or a planner, to say.
      fields:
        type === EPIC
          ? {}
          : {
              verification_evidence: evidencePath(feature, task.id),
              testing_mode: 'standard',
              decision_refs: [],
              learning_refs: [],
            },
      assignee: null,
      claim: null,
      created_at: at,
      updated_at: at,
      closed_at: isDone ? at : null,
      close_reason: isDone ? status.done : null,
    };
  });
}

function dependenciesOf({ waitsFor = [], epic }: Task): Dependency[] {
  const blocks = [...new Set(waitsFor)].map((id) => ({ id, type: BLOCKS }));
  return epic === undefined ? blocks : [...blocks, { id: epic, type: PARENT }];
}

function refuseTwice(tasks: readonly Task[]): void {
  const seen = new Set<string>();
  for (const { id, title } of tasks) {
    if (title.trim() === '') throw faulty(`the task ${id} has no title`);
    if (!isBeadId(id)) throw faulty(`"${id.slice(0, 100)}" cannot be an id`);
    if (seen.has(id)) throw faulty(`the id ${id} is there twice`);
    seen.add(id);
  }
}

/** The same for the same text, so that a list can be imported again. */
export function madeUpId(prefix: string, text: string): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${slug(prefix)}-${digest}`;
}

export function faulty(why: string): PulseError {
  return new PulseError('invalid_input', `The list cannot be imported: ${why}.`, {
    hint: 'Nothing was imported.',
  });
}

export function asObjects(value: unknown, what: string): Record<string, unknown>[] {
  if (
    !Array.isArray(value) ||
    value.some((each) => typeof each !== 'object' || each === null || Array.isArray(each))
  )
    throw faulty(`${what} must be a list of objects`);
  return value as Record<string, unknown>[];
}

/** Text, or a number as text; else nothing. */
export function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value.replaceAll('\0', '').toWellFormed()
    : typeof value === 'number'
      ? String(value)
      : '';
}

/** Paragraphs with a blank line between; empty ones are left out. */
export function paragraphs(...parts: string[]): string {
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .join('\n\n');
}

/** Under a heading; nothing where there is nothing. */
export function section(heading: string, content: string): string {
  return content.trim() === '' ? '' : `## ${heading}\n\n${content.trim()}`;
}
