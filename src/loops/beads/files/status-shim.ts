/** `.codex/pulse_status.mjs`: `pulse status --json` under the name that agents are told to run. Git ignores it until a person adds it. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isPulseError } from '../../../domain/errors.ts';
import { writeBelow } from '../../../files/folder.ts';
import { readTextOrNull } from '../../../files/regular-file.ts';
import { STATUS_SCRIPT, STATUS_SCRIPT_MARK } from '../../../process/status-script.ts';
import { STATUS_SHIM_FILE } from './places.ts';

const MOST_BYTES = 64 * 1024;

/** `own`: somebody wrote another one. */
export async function readStatusShim(root: string): Promise<'current' | 'stale' | 'missing' | 'own'> {
  const path = join(await realpath(root), STATUS_SHIM_FILE);
  const text = await readTextOrNull(path, { maxBytes: MOST_BYTES, isExact: true });
  if (text === null) return 'missing';
  if (text === STATUS_SCRIPT) return 'current';
  return text.startsWith(STATUS_SCRIPT_MARK) ? 'stale' : 'own';
}

export type ShimOutcome = { outcome: 'written' | 'current' } | { outcome: 'left'; reason: string };

/** What is not by Pulse is left alone, and no link is followed to write it. */
export async function writeStatusShim(root: string): Promise<ShimOutcome> {
  const state = await readStatusShim(root);
  if (state === 'current') return { outcome: 'current' };
  if (state === 'own') return { outcome: 'left', reason: 'It is not by Pulse.' };
  try {
    await writeBelow(root, join(root, STATUS_SHIM_FILE), STATUS_SCRIPT);
    return { outcome: 'written' };
  } catch (error) {
    if (!isPulseError(error, 'unsafe_file')) throw error;
    return { outcome: 'left', reason: error.message };
  }
}
