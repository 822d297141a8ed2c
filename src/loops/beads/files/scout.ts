/** What a worker looks at first: is this checkout prepared, what was done in it, and what waits to be resumed. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { openRegularFile } from '../../../files/regular-file.ts';
import { listHandoffEntries } from './handoffs.ts';
import { type OnboardingState, readOnboarding } from './onboarding.ts';
import { STATE_FILE } from './places.ts';

export interface Scouted {
  onboarding: { status: OnboardingState };
  /** The end of STATE.md. `null`: there is none that may be read. */
  state: string | null;
  /** The entries of the manifest that wait. */
  handoffs: Awaited<ReturnType<typeof listHandoffEntries>>;
}

/** The newest lines of STATE.md are its last. */
const STATE_BYTES = 32 * 1024;

/** Reads only, and makes no folder. */
export async function scoutRepository(root: string): Promise<Scouted> {
  return {
    onboarding: { status: await readOnboarding(root) },
    state: await readState(root),
    handoffs: await listHandoffEntries(root),
  };
}

async function readState(root: string): Promise<string | null> {
  const path = join(await realpath(root), STATE_FILE);
  try {
    await using file = await openRegularFile(path, { isExact: true });
    const { size } = await file.stat();
    const length = Math.min(size, STATE_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const text = buffer.toString('utf8', 0, bytesRead);
    return size > length ? text.slice(text.indexOf('\n') + 1) : text;
  } catch {
    // Absent, or something that no worker should follow: both are no state.
    return null;
  }
}
