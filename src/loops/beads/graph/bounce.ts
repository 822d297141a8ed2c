/** A bead that cannot be worked on as it is goes back to planning, and the coordinator hears of it. */
import { ensureAgent } from '../../../coordination/mail/agents.ts';
import { sendMessage } from '../../../coordination/mail/messages.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { Db } from '../../../store/store.ts';
import { withBeadTables } from '../tables.ts';
import { type Bead, EPIC, NEEDS_PLANNING } from './bead.ts';
import { findBeads, isBelow, type ProjectLock, writeBeads } from './rows.ts';

/** Who is written to where no swarm has a coordinator of another name. */
const COORDINATOR = 'coordinator';
/** Who writes what Pulse itself has to say. */
export const PULSE_SENDER = 'pulse';

export interface BounceOptions {
  ids: IdSource;
  coordinator?: string;
  /** Whose swarm it holds up: that is where the mail goes. Default: the epic of the bead. */
  epic?: string;
}

/** The topic that everything about an epic is sent on. */
function epicTopic(epic: string): string {
  return `epic-${epic}`;
}

/** `reason`: where it is not for missing fields. Sends the mail and returns the bead as it is now. A part of the transaction that holds the lock. */
export async function bounceBead(
  db: Db,
  lock: ProjectLock,
  {
    bead,
    ids,
    coordinator = COORDINATOR,
    epic = bead.epic ?? undefined,
    reason,
  }: BounceOptions & { bead: Bead; reason?: string },
): Promise<Bead> {
  const labels = bead.labels.includes(NEEDS_PLANNING) ? bead.labels : [...bead.labels, NEEDS_PLANNING];
  const bounced: Bead = { ...bead, status: 'blocked', labels, claim: null, updated_at: lock.now };
  await writeBeads(db, lock, [bounced]);
  for (const name of [PULSE_SENDER, coordinator]) await ensureAgent(db, lock.projectId, name);
  await sendMessage(db, {
    project: lock.projectId,
    from: PULSE_SENDER,
    to: [coordinator],
    subject: `${bead.id} needs planning`,
    body: reason === undefined ? bounceText(bead) : reasonText(bead, reason),
    threadId: epic ?? bead.id,
    ...(epic === undefined ? {} : { topic: epicTopic(epic) }),
    ids,
  });
  return { ...bounced, revision: lock.revision };
}

function bounceText({ id, title, missing }: Bead): string {
  return [
    `${id} (${title}) lacks required fields: ${missing.join(', ')}.`,
    '',
    ...missing.map((field) => `- ${field}`),
    '',
    'Its status is blocked until they are there: pulse bead update.',
  ].join('\n');
}

function reasonText({ id, title }: Bead, reason: string): string {
  return [
    `${id} (${title}) cannot be worked on. ${reason}`,
    '',
    `Its status is blocked. When that is mended: pulse bead update ${id} --status open.`,
  ].join('\n');
}

/** Of an epic at work, and those within it: every open bead that lacks something. Returns those that were bounced. */
export async function bounceIncomplete(
  db: Db,
  lock: ProjectLock,
  { epic, ...options }: BounceOptions & { epic: string },
): Promise<Bead[]> {
  const rows = await withBeadTables(db)
    .selectFrom('beads')
    .select('id')
    .where('project_id', '=', lock.projectId)
    .where(isBelow(lock.projectId, epic))
    .where('status', '=', 'open')
    .where('missing', '<>', '')
    .where('type', '<>', EPIC)
    .orderBy('id')
    .execute();
  const beads = await findBeads(
    db,
    lock.projectId,
    rows.map(({ id }) => id),
  );
  const bounced: Bead[] = [];
  for (const bead of beads) bounced.push(await bounceBead(db, lock, { ...options, epic, bead }));
  return bounced;
}
