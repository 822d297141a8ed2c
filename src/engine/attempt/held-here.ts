/**
 * The attempts that this process holds, over all its engines. An attempt in this process's name that is
 * not among them is held by nobody: its end could not be stored, or its claim was stored and never heard of.
 */
import type { Task } from '../../store/inbox.ts';

const held = new Set<string>();
const claiming = new Set<string>();
let changes = 0;

/** What `isHeldHere` compares with; taken before the rows are read. */
export function countHoldChanges(): number {
  return changes;
}

/** Anything that began or ended since then leaves the question open, and open means held: the next look decides. */
export function isHeldHere(
  owner: string,
  { id, token, sessionId }: Pick<Task, 'id' | 'token'> & { sessionId: string },
  since: number,
): boolean {
  return changes !== since || claiming.has(`${owner} ${sessionId}`) || held.has(keyOf(owner, { id, token }));
}

/** Claims an attempt; what was claimed is held from then on, until `forgetHeld`. */
export async function claimHere(
  { owner }: { owner: string },
  sessionId: string,
  claim: () => Promise<Task | null>,
): Promise<Task | null> {
  const key = `${owner} ${sessionId}`;
  claiming.add(key);
  changes += 1;
  try {
    const task = await claim();
    if (task) held.add(keyOf(owner, task));
    return task;
  } finally {
    claiming.delete(key);
    changes += 1;
  }
}

export function forgetHeld({ owner }: { owner: string }, task: Pick<Task, 'id' | 'token'>): void {
  held.delete(keyOf(owner, task));
  changes += 1;
}

function keyOf(owner: string, { id, token }: Pick<Task, 'id' | 'token'>): string {
  return `${owner} ${id}.${token}`;
}
