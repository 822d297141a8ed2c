/** Beads as people and programs see them. */
import type { Db } from '../../../store/store.ts';
import { type Bead, blockersOf, EPIC, featureOf, NO_FEATURE } from './bead.ts';
import { findBeads } from './rows.ts';

/** With the feature of each one's epic. */
export async function viewBeads(db: Db, projectId: string, beads: readonly Bead[]) {
  const known = new Map(beads.map((bead) => [bead.id, bead]));
  const others = new Set(beads.flatMap(({ epic }) => (epic === null || known.has(epic) ? [] : [epic])));
  for (const epic of await findBeads(db, projectId, [...others])) known.set(epic.id, epic);
  return beads.map((bead) => viewBead(bead, bead.epic === null ? null : (known.get(bead.epic) ?? null)));
}

function viewBead(bead: Bead, epic: Bead | null) {
  const { fields, claim } = bead;
  return {
    id: bead.id,
    title: bead.title,
    type: bead.type,
    status: bead.status,
    priority: bead.priority,
    epic: bead.epic,
    feature: ownFeature(bead) ?? (epic ? featureOf(epic) : NO_FEATURE),
    body: bead.body,
    labels: bead.labels,
    dependencies: blockersOf(bead.dependencies),
    files: fields.files ?? [],
    verify: fields.verify ?? [],
    verification_evidence: fields.verification_evidence ?? null,
    testing_mode: fields.testing_mode ?? null,
    tdd_steps: fields.tdd_steps ?? null,
    decision_refs: fields.decision_refs ?? [],
    learning_refs: fields.learning_refs ?? [],
    changesChecks: fields.changesChecks ?? false,
    missing: bead.missing,
    assignee: bead.assignee,
    claim: claim && { worker: claim.worker, at: claim.at },
    created_at: bead.created_at,
    updated_at: bead.updated_at,
    closed_at: bead.closed_at,
    close_reason: bead.close_reason,
  };
}

function ownFeature(bead: Bead): string | undefined {
  return bead.fields.feature ?? (bead.type === EPIC ? featureOf(bead) : undefined);
}
