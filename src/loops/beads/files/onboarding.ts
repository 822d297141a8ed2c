/** `.pulse/onboarding.json`: that this checkout was prepared for workers, by which version of Pulse. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { writeBelow } from '../../../files/folder.ts';
import { readTextOrNull } from '../../../files/regular-file.ts';
import { packageVersion } from '../../../tools/package-version.ts';
import { ONBOARDING_FILE, STATE_FILE, STATUS_SHIM_FILE, TOOLING_FILE } from './places.ts';
import { createState } from './state-file.ts';
import { readStatusShim, writeStatusShim } from './status-shim.ts';
import { readToolingStatus, type ToolingFound, writeToolingStatus } from './tooling-status.ts';

export type OnboardingState = 'current' | 'stale' | 'missing';

/** Far more than such a file has. */
const MOST_BYTES = 64 * 1024;

/** Stale: another version of Pulse wrote it, or it cannot be read. */
export async function readOnboarding(root: string): Promise<OnboardingState> {
  const path = join(await realpath(root), ONBOARDING_FILE);
  const text = await readTextOrNull(path, { maxBytes: MOST_BYTES, isExact: true });
  if (text === null) return 'missing';
  try {
    const { pulse_version } = JSON.parse(text) as { pulse_version?: unknown };
    return pulse_version === packageVersion() ? 'current' : 'stale';
  } catch {
    // A person's slip, or half a file: it is written again.
    return 'stale';
  }
}

/** Whether `writeOnboarding` has something to do. */
export async function isOnboarded(root: string): Promise<boolean> {
  if ((await readOnboarding(root)) !== 'current') return false;
  const [tooling, shim] = [await readToolingStatus(root), await readStatusShim(root)];
  return tooling !== null && shim !== 'missing' && shim !== 'stale' && !(await isMissingState(root));
}

export interface OnboardingReport {
  written: string[];
  /** Left as they are: a person's, or in the way. With the reason. */
  left: { path: string; reason: string }[];
}

/**
 * Writes what workers need before they begin. STATE.md is made only where there is none, a mode that a person chose is
 * kept, and the mark that all is done comes last. May be called again. Throws `unsafe_file` where a link is in the way
 * of `.pulse`.
 */
export async function writeOnboarding(
  root: string,
  { at, found }: { at: string; found: ToolingFound },
): Promise<OnboardingReport> {
  const report: OnboardingReport = { written: [], left: [] };
  if (await createState(root)) report.written.push(STATE_FILE);
  await writeToolingStatus(root, { at, found });
  report.written.push(TOOLING_FILE);
  const shim = await writeStatusShim(root);
  if (shim.outcome === 'written') report.written.push(STATUS_SHIM_FILE);
  if (shim.outcome === 'left') report.left.push({ path: STATUS_SHIM_FILE, reason: shim.reason });
  const mark = { schema_version: '1.0', pulse_version: packageVersion(), written_at: at };
  await writeBelow(root, join(root, ONBOARDING_FILE), `${JSON.stringify(mark, null, 2)}\n`);
  report.written.push(ONBOARDING_FILE);
  return report;
}

async function isMissingState(root: string): Promise<boolean> {
  const path = join(await realpath(root), STATE_FILE);
  return (await readTextOrNull(path)) === null;
}
