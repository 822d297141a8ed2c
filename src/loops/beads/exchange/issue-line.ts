/** A line of an issue file as a bead, and a bead as such a line. */
import { PulseError } from '../../../domain/errors.ts';
import { BLOCKS, type Dependency, PARENT, USUAL_PRIORITY } from '../graph/bead.ts';
import { instantMs } from '../graph/instant.ts';
import type { BeadContent } from '../graph/rows.ts';
import { checkFields, checkId, checkPriority } from '../graph/validate.ts';
import { readDescription, writeDescription } from './front-matter.ts';
import { patchJson } from './json-text.ts';

type Issue = Record<string, unknown>;

/** Whether a line's value is an issue. Issue files have other lines, too. */
export function isIssue(value: unknown): value is Issue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { _type: type = 'issue' } = value as Issue;
  return type === 'issue' && 'id' in value && 'title' in value;
}

/** `now` stands in for times that are not told. Throws `invalid_input` and `path_outside`. */
export function readIssue(issue: Issue, now: string): BeadContent {
  const description = readDescription(textIn(issue, 'description') ?? '');
  const created = timeIn(issue, 'created_at') ?? now;
  return {
    id: checkId(requiredText(issue, 'id')),
    title: requiredText(issue, 'title'),
    type: textIn(issue, 'issue_type') ?? 'task',
    status: textIn(issue, 'status') ?? 'open',
    priority:
      issue.priority === undefined || issue.priority === null
        ? USUAL_PRIORITY
        : checkPriority(issue.priority),
    body: description.body,
    labels: listIn(issue, 'labels').map((label) => {
      if (typeof label !== 'string') throw invalid('labels must be a list of texts');
      return storable(label);
    }),
    dependencies: withRelations(listIn(issue, 'dependencies').map(readDependency), description),
    fields: checkFields(description.fields),
    assignee: textIn(issue, 'assignee') || null,
    claim: null,
    created_at: created,
    updated_at: timeIn(issue, 'updated_at') ?? created,
    closed_at: timeIn(issue, 'closed_at'),
    close_reason: textIn(issue, 'close_reason'),
  };
}

function readDependency(value: unknown): Dependency {
  const { depends_on_id: id, type = BLOCKS } = (value ?? {}) as Issue;
  if (typeof id !== 'string' || typeof type !== 'string')
    throw invalid('dependencies must be a list of issues with depends_on_id and type');
  return { id: storable(id), type: storable(type) };
}

/** What the front matter says, where the list does not say it. */
function withRelations(
  listed: readonly Dependency[],
  { dependencies, epic }: { dependencies: readonly string[]; epic: string | null },
): Dependency[] {
  const hasEpic = listed.some(({ type }) => type === PARENT);
  const named = [
    ...dependencies.map((id) => ({ id, type: BLOCKS })),
    ...(epic === null || hasEpic ? [] : [{ id: epic, type: PARENT }]),
  ];
  const all = [...listed];
  for (const one of named) if (!all.some((each) => isSame(each, one))) all.push(one);
  return all;
}

function isSame(one: Dependency, other: Dependency): boolean {
  return one.id === other.id && one.type === other.type;
}

/**
 * The line of a bead, without its end. `source`: the line it came from; what the bead has in common with it stays as it is
 * there, byte for byte.
 */
export function writeIssue(bead: BeadContent, source: string | null): string {
  if (source === null) return JSON.stringify(newIssue(bead));
  const at = source.indexOf('{');
  const text = source.slice(at);
  const issue = JSON.parse(text) as Issue;
  const before = readIssue(issue, bead.created_at);
  const changes = changedMembers(bead, { before, issue });
  return Object.keys(changes).length === 0 ? source : source.slice(0, at) + patchJson(text, changes);
}

function changedMembers(bead: BeadContent, { before, issue }: { before: BeadContent; issue: Issue }): Issue {
  const changes: Issue = {};
  const set = (name: string, value: unknown, was: unknown) => {
    if (!isEqual(value, was)) changes[name] = value;
  };
  set('title', bead.title, before.title);
  set('status', bead.status, before.status);
  set('priority', bead.priority, before.priority);
  set('issue_type', bead.type, before.type);
  set('labels', bead.labels, before.labels);
  set('assignee', bead.assignee ?? '', before.assignee ?? '');
  set('updated_at', bead.updated_at, before.updated_at);
  set('closed_at', bead.closed_at, before.closed_at);
  set('close_reason', bead.close_reason ?? '', before.close_reason ?? '');
  const areRelationsChanged = !isEqual(bead.dependencies, before.dependencies);
  if (areRelationsChanged)
    changes.dependencies = bead.dependencies.map((one) => listedDependency(bead, one, issue));
  if (areRelationsChanged || bead.body !== before.body || !isEqual(bead.fields, before.fields)) {
    const description = textIn(issue, 'description') ?? '';
    set(
      'description',
      writeDescription(description, bead, { dropRelations: areRelationsChanged }),
      description,
    );
  }
  return changes;
}

/** As the file had it, where it had it. */
function listedDependency(bead: BeadContent, { id, type }: Dependency, issue: Issue): unknown {
  const known = listIn(issue, 'dependencies').find((value) => {
    const { depends_on_id, type: given = BLOCKS } = value as Issue;
    return depends_on_id === id && given === type;
  });
  return known ?? newDependency(bead, { id, type });
}

function newDependency({ id: issue_id, created_at }: BeadContent, { id, type }: Dependency) {
  return { issue_id, depends_on_id: id, type, created_at, created_by: 'pulse' };
}

/** With the names and in the order of `br` and `bd`. */
function newIssue(bead: BeadContent): Issue {
  const description = writeDescription('', bead, { dropRelations: false });
  return {
    id: bead.id,
    title: bead.title,
    ...(description === '' ? {} : { description }),
    status: bead.status,
    priority: bead.priority,
    issue_type: bead.type,
    ...(bead.assignee === null ? {} : { assignee: bead.assignee }),
    created_at: bead.created_at,
    updated_at: bead.updated_at,
    ...(bead.closed_at === null ? {} : { closed_at: bead.closed_at }),
    ...(bead.close_reason === null ? {} : { close_reason: bead.close_reason }),
    ...(bead.labels.length === 0 ? {} : { labels: bead.labels }),
    ...(bead.dependencies.length === 0
      ? {}
      : { dependencies: bead.dependencies.map((one) => newDependency(bead, one)) }),
  };
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || canonical(one) === canonical(other);
}

/** A database may keep the names of an object in another order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function requiredText(issue: Issue, name: string): string {
  const text = textIn(issue, name);
  if (text === null || text.trim() === '') throw invalid(`${name} is missing`);
  return text;
}

function textIn(issue: Issue, name: string): string | null {
  const value = issue[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw invalid(`${name} must be text`);
  return storable(value);
}

function timeIn(issue: Issue, name: string): string | null {
  const text = textIn(issue, name);
  if (text === null || text === '') return null;
  if (Number.isNaN(instantMs(text))) throw invalid(`${name} is no time: ${text.slice(0, 50)}`);
  return text;
}

function listIn(issue: Issue, name: string): unknown[] {
  const value = issue[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid(`${name} must be a list`);
  return value;
}

/** Neither database takes NUL or half a character. The line itself keeps what it has. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function invalid(why: string): PulseError {
  return new PulseError('invalid_input', why);
}
