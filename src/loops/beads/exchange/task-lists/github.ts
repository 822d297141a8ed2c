/** What `gh issue list --json number,title,body,labels,state,milestone,createdAt` prints. */
import { EPIC, slug } from '../../graph/bead.ts';
import { asObjects, faulty, type Task, textOf } from './task-list.ts';

type Json = Record<string, unknown>;

export function isGithub(value: unknown): value is unknown[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((each) => typeof each === 'object' && each !== null && 'number' in each && 'title' in each)
  );
}

/** Oldest first: `gh` lists the newest first. A milestone is an epic. */
export function readGithub(value: unknown[]): Task[] {
  const issues = asObjects(value, 'the list').toSorted((a, b) => Number(a.number) - Number(b.number));
  const epics = new Map<string, Task>();
  const tasks = issues.map((issue) => {
    const milestone = textOf((issue.milestone as Json | null | undefined)?.title);
    const epic = milestone === '' ? undefined : `gh-milestone-${slug(milestone)}`;
    if (epic !== undefined) epics.set(epic, { id: epic, title: milestone, type: EPIC });
    return { ...readIssue(issue), ...(epic === undefined ? {} : { epic }) };
  });
  return [...epics.values(), ...tasks];
}

function readIssue(issue: Json): Task {
  const number = textOf(issue.number);
  if (!/^\d+$/.test(number)) throw faulty(`"${number.slice(0, 50)}" is no number of an issue`);
  const labels = labelsOf(issue.labels);
  const isClosed = /^closed$/i.test(textOf(issue.state));
  return {
    id: `gh-${number}`,
    title: textOf(issue.title),
    body: [textOf(issue.body), textOf(issue.url)].filter(Boolean).join('\n\n'),
    labels,
    type: typeOf(labels),
    ...priorityOf(labels),
    status: isClosed
      ? { done: `Closed on GitHub${textOf(issue.stateReason) ? `: ${textOf(issue.stateReason)}` : ''}` }
      : 'open',
  };
}

function labelsOf(labels: unknown): string[] {
  return Array.isArray(labels)
    ? labels.map((label) => textOf(label) || textOf((label as Json | null)?.name)).filter(Boolean)
    : [];
}

function typeOf(labels: readonly string[]): string {
  const names = labels.map((label) => label.toLowerCase());
  if (names.includes('bug')) return 'bug';
  if (names.includes('documentation') || names.includes('docs')) return 'docs';
  return names.includes('enhancement') || names.includes('feature') ? 'feature' : 'task';
}

function priorityOf(labels: readonly string[]): { priority?: number } {
  const found = labels
    .map((label) => /^(?:priority[:/ -]*)?p([0-4])$/i.exec(label)?.[1])
    .find((each) => each !== undefined);
  return found === undefined ? {} : { priority: Number(found) };
}
