/** Making and changing beads. Each function is a part of a transaction that holds the project's lock. */
import { PulseError } from '../../../domain/errors.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { Db } from '../../../store/store.ts';
import {
  type Bead,
  type BeadFields,
  BLOCKS,
  blockersOf,
  type Dependency,
  EPIC,
  epicOf,
  evidencePath,
  GIVEN_STATUSES,
  missingFields,
  NEEDS_PLANNING,
  PARENT,
  USUAL_PRIORITY,
} from './bead.ts';
import { bounceBead } from './bounce.ts';
import { type Edges, findCycle, refuseCycle } from './cycles.ts';
import { readFeature } from './feature.ts';
import { appendLine } from './lines.ts';
import {
  type BeadContent,
  findBead,
  getBead,
  type ProjectLock,
  readDependencies,
  typesOf,
  updateState,
  writeBeads,
} from './rows.ts';
import {
  checkDependencies,
  checkFields,
  checkId,
  checkPriority,
  checkText,
  checkTexts,
  checkTitle,
  checkWord,
} from './validate.ts';

const MOST_BODY = 256 * 1024;

export interface BeadInput {
  title?: string;
  type?: string;
  priority?: number;
  /** `null`: none. */
  epic?: string | null;
  body?: string;
  labels?: string[];
  /** Ids of the beads that it waits for. */
  dependencies?: string[];
  fields?: BeadFields;
}

export interface ChangeOptions {
  ids: IdSource;
  /** The top of the repository, for absolute paths. */
  root?: string;
}

export interface NewBead extends BeadInput {
  title: string;
  /** Without it one is made: `prefix` and some characters. */
  id?: string;
  prefix: string;
}

/** Fills what has a default. A bead that still lacks a field is made, and bounced. */
export async function createBead(
  db: Db,
  lock: ProjectLock,
  { bead: asked, ...options }: ChangeOptions & { bead: NewBead },
): Promise<Bead> {
  const { projectId, now } = lock;
  const id =
    asked.id === undefined ? await newId(db, projectId, asked.prefix, options.ids) : checkId(asked.id);
  if (asked.id !== undefined && (await findBead(db, projectId, id)))
    throw new PulseError('invalid_input', `There is a bead ${id} already.`, {
      hint: 'Choose another id, or leave it out.',
    });
  const blank: BeadContent = {
    ...{ id, title: '', type: 'task', status: 'open', priority: USUAL_PRIORITY, body: '' },
    ...{ labels: [], dependencies: [], fields: {}, assignee: null, claim: null },
    ...{ created_at: now, updated_at: now, closed_at: null, close_reason: null },
  };
  const given = applyInput(blank, asked, options.root);
  await checkDependencies(db, projectId, given.dependencies);
  refuseSelf(given);
  const content: BeadContent = { ...given, fields: await withDefaults(db, projectId, given) };
  await writeBeads(db, lock, [content]);
  await appendLine(db, projectId, id);
  const bead = whole(content, lock);
  return bead.missing.length === 0 ? bead : bounceBead(db, lock, { bead, ids: options.ids });
}

/** Changes what is given. A bounced bead that has all its fields now is open again. */
export async function updateBead(
  db: Db,
  lock: ProjectLock,
  { id, input, status, ...options }: ChangeOptions & { id: string; input: BeadInput; status?: string },
): Promise<Bead> {
  if (status !== undefined && !isGivable(status))
    throw new PulseError('invalid_input', `A bead cannot be given the status ${status.slice(0, 100)}.`, {
      hint: `It is one of ${GIVEN_STATUSES.join(', ')}; \`pulse bead close\` closes it.`,
    });
  const before = await getBead(db, lock.projectId, id);
  const asked = applyInput(before, input, options.root);
  // Who plans its files or checks wants it worked on: what has a default needs no word.
  const isPlanned = input.fields?.files !== undefined || input.fields?.verify !== undefined;
  const given = isPlanned ? { ...asked, fields: await withDefaults(db, lock.projectId, asked) } : asked;
  const added = given.dependencies.filter((one) => !before.dependencies.some((each) => isSame(each, one)));
  await checkDependencies(db, lock.projectId, added);
  if (added.length > 0) await refuseCycles(db, lock.projectId, given);
  const changed = withStatus({ ...given, updated_at: lock.now }, status, before);
  await writeBeads(db, lock, [changed]);
  const bead = whole(changed, lock);
  const isWorse = bead.missing.some((field) => !before.missing.includes(field));
  return isWorse && bead.status === 'open' ? bounceBead(db, lock, { bead, ids: options.ids }) : bead;
}

function isGivable(status: string): boolean {
  return GIVEN_STATUSES.some((each) => each === status);
}

/** Only these four are changed. One that is closed stays as it was closed. */
export async function closeBead(
  db: Db,
  lock: ProjectLock,
  { id, reason }: { id: string; reason: string },
): Promise<Bead> {
  const bead = await getBead(db, lock.projectId, id);
  if (bead.status === 'closed') return bead;
  const closed = {
    status: 'closed',
    closed_at: lock.now,
    close_reason: checkText(reason, 'The reason', 10_000),
    updated_at: lock.now,
  };
  await updateState(db, lock, { id, ...closed, claim_worker: null, claim_fence: null, claimed_at: null });
  return { ...bead, ...closed, claim: null, revision: lock.revision };
}

/** More files that may be changed for it. */
export async function widenScope(
  db: Db,
  lock: ProjectLock,
  { id, files, ...options }: ChangeOptions & { id: string; files: readonly string[] },
): Promise<Bead> {
  const { fields } = await getBead(db, lock.projectId, id);
  const all = [...(fields.files ?? []), ...files];
  return updateBead(db, lock, { id, input: { fields: { files: all } }, ...options });
}

function applyInput(bead: BeadContent, input: BeadInput, root?: string): BeadContent {
  const { title, type, priority, body, labels, fields, epic, dependencies } = input;
  return {
    ...bead,
    ...(title !== undefined && { title: checkTitle(title) }),
    ...(type !== undefined && { type: checkWord(type, 'The type') }),
    ...(priority !== undefined && { priority: checkPriority(priority) }),
    ...(body !== undefined && { body: checkText(body, 'The body', MOST_BODY) }),
    ...(labels !== undefined && {
      labels: [...new Set(checkTexts(labels, 'labels').map((label) => checkWord(label, 'The label')))],
    }),
    ...(fields !== undefined && { fields: { ...bead.fields, ...checkFields(fields, root) } }),
    dependencies: changedDependencies(bead.dependencies, { epic, dependencies }),
  };
}

/** Those of other types stay as they are. */
function changedDependencies(
  before: readonly Dependency[],
  { epic, dependencies }: Pick<BeadInput, 'epic' | 'dependencies'>,
): Dependency[] {
  const isReplaced = ({ type }: Dependency) =>
    (type === BLOCKS && dependencies !== undefined) || (type === PARENT && epic !== undefined);
  const kept = before.filter((one) => !isReplaced(one) || isAsked(one, { epic, dependencies }));
  const asked = [
    ...(dependencies ?? []).map((id) => ({ id, type: BLOCKS })),
    ...(epic === undefined || epic === null ? [] : [{ id: epic, type: PARENT }]),
  ];
  const added = asked.filter(
    (one, index) =>
      !kept.some((each) => isSame(each, one)) && asked.findIndex((each) => isSame(each, one)) === index,
  );
  return [...kept, ...added];
}

function isAsked(
  { id, type }: Dependency,
  { epic, dependencies }: Pick<BeadInput, 'epic' | 'dependencies'>,
): boolean {
  return type === BLOCKS ? dependencies!.includes(id) : epic === id;
}

function isSame(one: Dependency, other: Dependency): boolean {
  return one.id === other.id && one.type === other.type;
}

function refuseSelf({ id, dependencies }: Pick<BeadContent, 'id' | 'dependencies'>): void {
  const own = dependencies.find((one) => one.id === id && (one.type === BLOCKS || one.type === PARENT));
  if (own) throw refuseCycle([id], own.type === BLOCKS ? 'waits for' : 'is a part of');
}

/** Throws where the bead would wait for itself, or be a part of itself, in however many steps. */
async function refuseCycles(db: Db, projectId: string, { id, dependencies }: BeadContent): Promise<void> {
  const all = await readDependencies(db, projectId);
  all.set(id, dependencies);
  refuseAnyCycle(all);
}

export function refuseAnyCycle(all: ReadonlyMap<string, readonly Dependency[]>): void {
  const waits: Edges = new Map([...all].map(([id, each]) => [id, blockersOf(each)]));
  const cycle = findCycle(waits);
  if (cycle) throw refuseCycle(cycle, 'waits for');
  const parts: Edges = new Map([...all].map(([id, each]) => [id, [epicOf(each) ?? []].flat()]));
  const nested = findCycle(parts);
  if (nested) throw refuseCycle(nested, 'is a part of');
}

async function withDefaults(
  db: Db,
  projectId: string,
  { id, type, fields, dependencies }: BeadContent,
): Promise<BeadFields> {
  if (type === EPIC) return fields;
  const feature = await readFeature(db, projectId, { fields, epic: epicOf(dependencies) });
  return {
    verification_evidence: evidencePath(feature, id),
    testing_mode: 'standard',
    decision_refs: [],
    learning_refs: [],
    ...fields,
  };
}

/** Where a person asks for a status; else what follows from the fields. */
function withStatus(content: BeadContent, status: string | undefined, before: Bead): BeadContent {
  const isComplete = missingFields(content.type, content.fields).length === 0;
  const isMended =
    (before.missing.length > 0 || status === 'open') && isComplete && before.labels.includes(NEEDS_PLANNING);
  const labels = isMended ? content.labels.filter((label) => label !== NEEDS_PLANNING) : content.labels;
  const wanted = status ?? (isMended && before.status === 'blocked' ? 'open' : before.status);
  if (wanted === before.status) return { ...content, labels };
  // Who worked on it does so no longer: it is a person who says what it is now.
  return { ...content, labels, status: wanted, claim: null, closed_at: null, close_reason: null };
}

function whole(content: BeadContent, { revision }: ProjectLock): Bead {
  const { type, fields, dependencies } = content;
  return { ...content, epic: epicOf(dependencies), missing: missingFields(type, fields), revision };
}

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const FEWEST_CHARACTERS = 4;

/** As short as `br` makes them; longer where many are taken. */
async function newId(db: Db, projectId: string, prefix: string, { randomBytes }: IdSource): Promise<string> {
  for (let length = FEWEST_CHARACTERS; ; length++) {
    const offered = Array.from({ length: 20 }, () => {
      const characters = Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]);
      return `${prefix}-${characters.join('')}`;
    });
    const taken = await typesOf(db, projectId, offered);
    const free = offered.find((id) => !taken.has(id));
    if (free !== undefined) return free;
  }
}
