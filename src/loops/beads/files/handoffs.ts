/**
 * `.pulse/handoffs`: one file an owner, and a manifest of those that wait. The manifest is made of the files each time,
 * so that a crash between the two, or two workers at once, leave nothing wrong: the last of them writes what is there.
 */
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { PulseError } from '../../../domain/errors.ts';
import { makeFolder, writeBelow } from '../../../files/folder.ts';
import { isNothing, readTextOrNull } from '../../../files/regular-file.ts';
import { type Handoff, handoffSchema } from './handoff-payload.ts';
import { checkpointFile, handoffFile, isHandoffFile, MANIFEST_FILE } from './places.ts';

const MOST_BYTES = 1024 * 1024;

/** May be called again. Throws `path_outside` for an owner or a feature that cannot be a name, `unsafe_file` at links. */
export async function writeHandoff(root: string, handoff: Handoff): Promise<void> {
  await writeOwnerFile(root, handoff);
  await writeJson(root, checkpointFile(handoff.feature, handoff.handoff_id), checkpointOf(handoff));
  await writeManifest(root);
}

/** What this owner left to be resumed. `null`: nothing, or it was taken up. A manifest that misses it is put right. */
export async function findHandoff(root: string, ownerId: string): Promise<Handoff | null> {
  const handoff = await readOwnerFile(root, ownerId);
  if (handoff?.status !== 'ready_to_resume') return null;
  const manifest = await readManifest(root);
  const isListed = manifest?.active.some((entry) => entry.owner_id === ownerId) ?? false;
  if (!isListed) await writeManifest(root);
  return handoff;
}

/** All that wait, by owner. Looking makes no folder. */
export async function listHandoffs(root: string): Promise<Handoff[]> {
  const found = await lstat(join(root, '.pulse', 'handoffs')).catch((error: unknown) => {
    if (isNothing(error)) return null;
    throw error;
  });
  if (!found?.isDirectory()) return [];
  return (await readOwnerFiles(root)).filter(({ status }) => status === 'ready_to_resume');
}

/** As `listHandoffs`, each as the manifest has it. */
export async function listHandoffEntries(root: string) {
  return (await listHandoffs(root)).map(entryOf);
}

/** Says that it was taken up. May be called again; `null`: there was nothing to take up. */
export async function consumeHandoff(
  root: string,
  ownerId: string,
  { at }: { at: string },
): Promise<Handoff | null> {
  const handoff = await readOwnerFile(root, ownerId);
  const isWaiting = handoff?.status === 'ready_to_resume';
  const consumed = isWaiting ? { ...handoff, status: 'consumed' as const, consumed_at: at } : null;
  if (consumed) await writeOwnerFile(root, consumed);
  await writeManifest(root);
  return consumed;
}

export interface Reassignment {
  from: string;
  to: string;
  /** ISO 8601. */
  at: string;
  reason: string;
}

/**
 * Gives what one owner left to another, and records it in both files and in the manifest. May be called again. Throws
 * `not_found` where the first left nothing, `invalid_transition` where the other has a handoff of its own.
 */
export async function reassignHandoff(root: string, reassignment: Reassignment): Promise<Handoff> {
  const { from, to } = reassignment;
  const [old, present] = [await readOwnerFile(root, from), await readOwnerFile(root, to)];
  const isDone = present?.status === 'ready_to_resume' && present.reassigned?.at(-1)?.from === from;
  if (old?.status !== 'ready_to_resume') {
    if (!isDone)
      throw new PulseError('not_found', `${from} has left no handoff.`, {
        hint: `${MANIFEST_FILE} lists the handoffs that wait.`,
      });
    await writeManifest(root);
    return present;
  }
  if (present?.status === 'ready_to_resume' && !(isDone && present.paused_at === old.paused_at))
    throw new PulseError('invalid_transition', `${to} has a handoff of its own to resume.`, {
      hint: 'Let it resume that one first, or choose another owner.',
    });
  const given = giveTo(old, reassignment);
  await writeHandoff(root, given);
  await writeOwnerFile(root, { ...old, status: 'reassigned', reassigned_to: to });
  await writeManifest(root);
  return given;
}

function giveTo(handoff: Handoff, { from, to, at, reason }: Reassignment): Handoff {
  const ownFile = handoffFile(from);
  return {
    ...handoff,
    handoff_id: `${to}-${handoff.paused_at}`,
    owner_id: to,
    read_first: handoff.read_first.map((path) => (path === ownFile ? handoffFile(to) : path)),
    reassigned: [...(handoff.reassigned ?? []), { from, to, at, reason }],
  };
}

function checkpointOf(handoff: Handoff) {
  const { context_snapshot: snapshot, transfer, verification_evidence_paths } = handoff.payload;
  return {
    schema_version: handoff.schema_version,
    checkpoint_id: handoff.handoff_id,
    feature: handoff.feature,
    phase: handoff.phase,
    owner_id: handoff.owner_id,
    handoff_path: handoffFile(handoff.owner_id),
    captured_at: handoff.paused_at,
    reason: handoff.reason,
    summary: handoff.summary,
    next_action: handoff.next_action,
    last_bead_closed: snapshot.last_bead_closed,
    completed: transfer.completed,
    in_flight: transfer.in_flight,
    blockers: transfer.blockers,
    verification_evidence_paths,
  };
}

const manifestSchema = z.looseObject({
  active: z.array(z.looseObject({ owner_id: z.string().optional(), path: z.string().optional() })),
});

async function readManifest(root: string): Promise<z.infer<typeof manifestSchema> | null> {
  return await readJson(root, MANIFEST_FILE, manifestSchema);
}

/** A few rounds are enough: each of several writers looks again after its own write. */
const MOST_ROUNDS = 20;

async function writeManifest(root: string): Promise<void> {
  let written: string | null = null;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const manifest = await composeManifest(root);
    const text = JSON.stringify(manifest);
    if (text === written) return;
    await writeJson(root, MANIFEST_FILE, manifest);
    written = text;
  }
}

/** Entries of other tools, and fields that are unknown here, stay as they are. */
async function composeManifest(root: string) {
  const present = await readManifest(root);
  const foreign = (present?.active ?? []).filter(({ path }) => path !== undefined && !isHandoffFile(path));
  const handoffs = await readOwnerFiles(root);
  const waiting = handoffs.filter(({ status }) => status === 'ready_to_resume');
  const reassigned = handoffs.flatMap(({ handoff_id, owner_id, status, reassigned: list = [] }) =>
    status === 'reassigned'
      ? []
      : list.filter(({ to }) => to === owner_id).map((entry) => ({ handoff_id, ...entry })),
  );
  return {
    ...present,
    schema_version: '2.0',
    active: [...foreign, ...waiting.map(entryOf)],
    reassigned,
  };
}

function entryOf(handoff: Handoff) {
  const { handoff_id, owner_type, owner_id, skill, feature, phase, status } = handoff;
  const { paused_at, reason, summary, next_action } = handoff;
  return {
    ...{ handoff_id, owner_type, owner_id, skill, feature, phase, status, paused_at, reason },
    summary,
    next_action,
    path: handoffFile(owner_id),
  };
}

async function readOwnerFiles(root: string): Promise<Handoff[]> {
  await using folder = await makeFolder(root, ['.pulse', 'handoffs']);
  const names = folder.names().filter((name) => isHandoffFile(`.pulse/handoffs/${name}`));
  const handoffs: Handoff[] = [];
  for (const name of names.toSorted()) {
    const handoff = await readOwnerFile(root, name.slice(0, -'.json'.length));
    if (handoff) handoffs.push(handoff);
  }
  return handoffs;
}

/** `null` also for one that is no handoff, or another's under this name. */
async function readOwnerFile(root: string, ownerId: string): Promise<Handoff | null> {
  const handoff = await readJson(root, handoffFile(ownerId), handoffSchema);
  return handoff?.owner_id === ownerId ? handoff : null;
}

async function writeOwnerFile(root: string, handoff: Handoff): Promise<void> {
  await writeJson(root, handoffFile(handoff.owner_id), handoff);
}

async function writeJson(root: string, path: string, value: unknown): Promise<void> {
  await writeBelow(root, join(root, path), `${JSON.stringify(value, null, 2)}\n`);
}

async function readJson<T>(root: string, path: string, schema: z.ZodType<T>): Promise<T | null> {
  const place = join(await realpath(root), path);
  const text = await readTextOrNull(place, { maxBytes: MOST_BYTES, isExact: true });
  try {
    return schema.safeParse(JSON.parse(text ?? 'null')).data ?? null;
  } catch {
    // Half a file, or a person's note: nothing that could be resumed.
    return null;
  }
}
