/** Changing beads, each change as one transaction. */

import type { ConflictView } from '../../../coordination/reservations/conflicts.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { InputOf } from '../../../operations/fields.ts';
import type { CallerOptions } from '../../../operations/operation.ts';
import { changeProject } from '../../../operations/project-change.ts';
import type { Db, Store } from '../../../store/store.ts';
import { type Imported, importIssues } from '../exchange/import-issues.ts';
import { importTasks } from '../exchange/import-tasks.ts';
import { readImport } from '../exchange/read-import.ts';
import type { Bead, BeadFields } from '../graph/bead.ts';
import { viewBeads } from '../graph/bead-view.ts';
import { type BeadInput, closeBead, createBead, updateBead, widenScope } from '../graph/change.ts';
import { getBead, lockProject, type ProjectLock } from '../graph/rows.ts';
import type * as definitions from './definitions.ts';
import { projectOfBeads } from './project-of-beads.ts';
import type { BeadReading } from './read.ts';
import type { BeadView } from './view-schema.ts';

type Input<K extends keyof typeof definitions> = InputOf<(typeof definitions)[K]['fields']>;
type Keep = Pick<CallerOptions, 'keep'>;

/** What is needed to change them. */
export interface BeadChanging extends BeadReading {
  engine: { store: Store; ids: IdSource };
}

export async function makeBead(
  operations: BeadChanging,
  { project_key, id, title, keep, ...given }: Input<'create'> & Keep,
): Promise<{ bead: BeadView }> {
  const { id: projectId, root } = await projectOfBeads(operations, { project_key });
  const bead = { ...beadInput(given), id, title, prefix: projectId.replace(/-[0-9a-f]{8}$/, '') };
  return change(operations, { projectId, keep }, (db, lock) =>
    createBead(db, lock, { bead, root, ids: operations.engine.ids }),
  );
}

export async function changeBead(
  operations: BeadChanging,
  { project_key, beadId, status, title, keep, ...given }: Input<'update'> & Keep,
): Promise<{ bead: BeadView }> {
  const project = await projectOfBeads(operations, { project_key, beadId });
  const input = { ...beadInput(given), ...(title === undefined ? {} : { title }) };
  const { ids } = operations.engine;
  if (given.files === undefined)
    return change(operations, { projectId: project.id, keep }, (db, lock) =>
      updateBead(db, lock, { id: beadId, input, status, root: project.root, ids }),
    );
  const { bead } = await widen(operations, { projectId: project.id, beadId, keep }, (db, lock) =>
    updateBead(db, lock, { id: beadId, input, status, root: project.root, ids }),
  );
  return { bead };
}

/** `wasClosed`: it had been closed before, and stays as it was closed. */
export async function endBead(
  operations: BeadChanging,
  { project_key, beadId, reason = 'Closed', keep }: Input<'close'> & Keep,
): Promise<{ bead: BeadView; wasClosed: boolean }> {
  const { id: projectId } = await projectOfBeads(operations, { project_key, beadId });
  let wasClosed = false;
  const { bead } = await change(operations, { projectId, keep }, async (db, lock) => {
    wasClosed = (await getBead(db, projectId, beadId)).status === 'closed';
    return closeBead(db, lock, { id: beadId, reason });
  });
  return { bead, wasClosed };
}

/** `conflicts`: what keeps the one that works on it from holding them. */
export async function widenBead(
  operations: BeadChanging,
  { project_key, beadId, add: files, keep }: Input<'scope'> & Keep,
): Promise<{ bead: BeadView; conflicts?: ConflictView[] }> {
  const { id: projectId, root } = await projectOfBeads(operations, { project_key, beadId });
  return widen(operations, { projectId, beadId, keep }, (db, lock) =>
    widenScope(db, lock, { id: beadId, files, root, ids: operations.engine.ids }),
  );
}

/** Of a bead that may be changed now, in words. */
export function heldLines(conflicts: readonly ConflictView[] = []): string[] {
  return conflicts.map(
    ({ path, holder, expires_at: until }) =>
      `${path} is reserved by ${holder} until ${until}: its worker waits`,
  );
}

/** Who works on the bead holds what it may change now, and hears of it. */
async function widen(
  operations: BeadChanging,
  { projectId, beadId, keep }: { projectId: string; beadId: string } & Keep,
  work: (db: Db, lock: ProjectLock) => Promise<Bead>,
): Promise<{ bead: BeadView; conflicts?: ConflictView[] }> {
  // Of workers other changes need nothing.
  const { notifyHolder } = await import('../worker/widen-claimed.ts');
  const { ids } = operations.engine;
  return changeProject(operations, { label: 'bead', keep }, async (db) => {
    const lock = await lockProject(db, projectId);
    const before = await getBead(db, projectId, beadId);
    const bead = await work(db, lock);
    const added = (bead.fields.files ?? []).filter((file) => !before.fields.files?.includes(file));
    const conflicts = await notifyHolder(db, { projectId, bead, added, ids });
    const [view] = await viewBeads(db, projectId, [bead]);
    return {
      bead: operations.redactor.redactJson(view!),
      ...(conflicts.length === 0 ? {} : { conflicts }),
    };
  });
}

export async function importBeads(
  operations: BeadChanging,
  { project_key, content, file = '', format, keep }: Input<'importFile'> & Keep,
): Promise<Imported> {
  const { id: projectId } = await projectOfBeads(operations, { project_key });
  const now = new Date(operations.engine.ids.nowMs()).toISOString();
  const read = readImport(content, { file, format, now });
  // It may write a hundred thousand rows: nobody else's change waits for the same commit.
  return changeProject(operations, { label: 'bead', keep, isSmall: false }, async (db) => {
    const lock = await lockProject(db, projectId);
    return 'lines' in read ? importIssues(db, lock, read.lines) : importTasks(db, lock, read.beads);
  });
}

function change(
  operations: BeadChanging,
  { projectId, keep }: { projectId: string } & Keep,
  work: (db: Db, lock: ProjectLock) => Promise<Bead>,
): Promise<{ bead: BeadView }> {
  return changeProject(operations, { label: 'bead', keep }, async (db) => {
    const bead = await work(db, await lockProject(db, projectId));
    const [view] = await viewBeads(db, projectId, [bead]);
    return { bead: operations.redactor.redactJson(view!) };
  });
}

/** Only what was given. */
function beadInput(given: Omit<Input<'create'>, 'project_key' | 'id' | 'title'>): BeadInput {
  const { type, priority, epic, body, labels, dependencies, verify, ...rest } = given;
  const { feature, files, verification_evidence, testing_mode, tdd_steps, decision_refs, learning_refs } =
    rest;
  const checks = verify?.map((each) => (typeof each === 'string' ? { command: each } : each));
  const fields: BeadFields = {
    ...{ feature, files, verify: checks, verification_evidence, testing_mode, tdd_steps },
    ...{ decision_refs, learning_refs, changesChecks: rest.changesChecks },
  };
  const named = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    ...{ type, priority, epic, body, labels, dependencies },
    ...(named.length === 0 ? {} : { fields: Object.fromEntries(named) }),
  };
}
