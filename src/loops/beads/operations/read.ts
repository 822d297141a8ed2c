/** Looking at beads. None of it needs the engine: the command line asks in a hurry. */
import type { Redactor } from '../../../domain/redact.ts';
import type { Git } from '../../../git/exec.ts';
import type { InputOf } from '../../../operations/fields.ts';
import type { Store } from '../../../store/store.ts';
import { viewBeads } from '../graph/bead-view.ts';
import { readNext } from '../graph/claim.ts';
import { requireEpic, type Why } from '../graph/next.ts';
import type { BeadFilter } from '../graph/rows.ts';
import { getBead, listBeads } from '../graph/rows.ts';
import type * as definitions from './definitions.ts';
import { projectOfBeads } from './project-of-beads.ts';
import type { BeadView } from './view-schema.ts';

/** What is needed to look. */
export interface BeadReading {
  engine: { store: Store };
  git: Git;
  redactor: Redactor;
}

type Input<K extends keyof typeof definitions> = InputOf<(typeof definitions)[K]['fields']>;

export async function showBead(
  reading: BeadReading,
  { project_key, beadId }: Input<'show'>,
): Promise<{ bead: BeadView }> {
  const { id: projectId } = await projectOfBeads(reading, { project_key, beadId });
  return reading.engine.store.read(async (db) => {
    const [bead] = await viewBeads(db, projectId, [await getBead(db, projectId, beadId)]);
    return { bead: reading.redactor.redactJson(bead!) };
  });
}

export async function listProjectBeads(
  reading: BeadReading,
  { project_key, ...filter }: Input<'list'>,
): Promise<{ beads: BeadView[] }> {
  const { id: projectId } = await projectOfBeads(reading, { project_key });
  return reading.engine.store.read(async (db) => {
    if (filter.epic !== undefined) await requireEpic(db, projectId, filter.epic);
    const beads = await listBeads(db, projectId, filter satisfies BeadFilter);
    return { beads: reading.redactor.redactJson(await viewBeads(db, projectId, beads)) };
  });
}

export interface NextView {
  bead: BeadView | null;
  why?: Why;
}

export async function nextBead(
  reading: BeadReading,
  { project_key, epic, agent_name: agent, why: isExplained = false }: Input<'next'>,
): Promise<NextView> {
  const { store } = reading.engine;
  const { id: projectId } = await projectOfBeads(reading, { project_key });
  const { bead, why } = await readNext(store, { projectId, epic, agent, isExplained });
  const views = bead ? await store.read((db) => viewBeads(db, projectId, [bead])) : [];
  return { bead: reading.redactor.redactJson(views[0] ?? null), ...(isExplained ? { why } : {}) };
}
