/** Beads as the programs `br` and `bv` print them. Pure. */
import { type Bead, blockersOf } from '../graph/bead.ts';
import type { Ready } from '../graph/next.ts';

/** As an issue of `br`, with what Pulse knows besides. */
export function issueOf(bead: Bead): Record<string, unknown> {
  const { id, title, body, status, priority, type, epic, labels, assignee, missing, fields } = bead;
  return {
    ...{ id, title, description: body, status, priority, issue_type: type, epic, labels, assignee },
    dependencies: blockersOf(bead.dependencies),
    ...{ files: [], verify: [], verification_evidence: null, testing_mode: null },
    ...{ decision_refs: [], learning_refs: [], ...fields, missing },
    ...{ created_at: bead.created_at, updated_at: bead.updated_at },
    ...{ closed_at: bead.closed_at, close_reason: bead.close_reason },
  };
}

export function issueText(bead: Bead): string {
  const { body, fields } = bead;
  const list = (items: readonly string[] = []) => (items.length === 0 ? 'none' : items.join(', '));
  const evidence = [fields.verification_evidence ?? []].flat();
  return [
    issueLine(bead),
    `dependencies: ${list(blockersOf(bead.dependencies))}`,
    `files: ${list(fields.files)}`,
    'verify:',
    ...(fields.verify ?? []).map(
      ({ command, expect }) => `- ${command}${expect ? ` (expect: ${expect})` : ''}`,
    ),
    `verification_evidence: ${list(evidence)}`,
    `testing_mode: ${fields.testing_mode ?? 'standard'}`,
    ...(fields.tdd_steps ? [`tdd_steps: ${JSON.stringify(fields.tdd_steps)}`] : []),
    `decision_refs: ${list(fields.decision_refs)}`,
    `learning_refs: ${list(fields.learning_refs)}`,
    ...(bead.close_reason ? [`close_reason: ${bead.close_reason}`] : []),
    ...(body.trim() === '' ? [] : ['', body.trim()]),
  ].join('\n');
}

export function issueLine({ id, priority, type, status, title }: Bead): string {
  return `${id} [P${priority}] [${type}] ${status} - ${title}`;
}

/** What `bv --robot-priority` prints: the best first. */
export function recommendationsOf(ready: readonly Ready[]): Record<string, unknown> {
  return {
    recommendations: ready.map(({ bead, figures }, index) => ({
      ...{
        rank: index + 1,
        issue_id: bead.id,
        title: bead.title,
        priority: bead.priority,
        status: bead.status,
      },
      ...{ critical_path: figures.critical_path, pagerank: figures.pagerank, unblocks: figures.unblocks },
      files: bead.fields.files ?? [],
    })),
  };
}
