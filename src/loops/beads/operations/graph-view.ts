/** The graph as it is drawn. */
import type { InputOf } from '../../../operations/fields.ts';
import { type Bead, EPIC } from '../graph/bead.ts';
import { type BeadGraph, withGraph } from '../graph/graph.ts';
import { requireEpic } from '../graph/next.ts';
import { listBeads } from '../graph/rows.ts';
import type * as definitions from './definitions.ts';
import { projectOfBeads } from './project-of-beads.ts';
import type { BeadReading } from './read.ts';
import type { GraphView } from './view-schema.ts';

export async function showGraph(
  reading: BeadReading,
  { project_key, epic }: InputOf<typeof definitions.graph.fields>,
): Promise<GraphView> {
  const { store } = reading.engine;
  const { id: projectId } = await projectOfBeads(reading, { project_key });
  return store.read(async (db) => {
    if (epic !== undefined) await requireEpic(db, projectId, epic);
    const all = await listBeads(db, projectId);
    const beads = epic === undefined ? all : within(all, epic);
    const use = (graph: BeadGraph) => beads.map((bead) => viewNode(bead, graph));
    const nodes = await withGraph(store, db, { projectId, use });
    const shown = new Set(beads.map(({ id }) => id));
    return {
      nodes: reading.redactor.redactJson(nodes),
      edges: beads.flatMap(({ id, dependencies }) =>
        dependencies
          .filter((one) => shown.has(one.id))
          .map((one) => ({ from: id, to: one.id, type: one.type })),
      ),
    };
  });
}

/** The epic itself, and all that belongs to it. */
function within(all: readonly Bead[], epic: string): Bead[] {
  const parents = new Map(all.map((bead) => [bead.id, bead.epic]));
  const isWithin = (id: string | null): boolean =>
    id !== null && (id === epic || isWithin(parents.get(id) ?? null));
  return all.filter(({ id }) => isWithin(id));
}

function viewNode({ id, title, type, status, priority, epic, missing, assignee }: Bead, graph: BeadGraph) {
  const { metrics } = graph;
  const number = graph.numberOf(id);
  const isOpen = number !== null && metrics.isOpen[number] === 1;
  const figure = (figures: ArrayLike<number>): number | null => (isOpen ? figures[number]! : null);
  return {
    ...{ id, title, type, status, priority, epic, missing, assignee },
    is_ready: status === 'open' && type !== EPIC && missing.length === 0 && figure(metrics.openNeeds) === 0,
    critical_path: figure(metrics.criticalPath),
    pagerank: figure(metrics.rank),
    unblocks: figure(metrics.unblocks),
  };
}
