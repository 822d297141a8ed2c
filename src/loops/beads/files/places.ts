/** Where the files of beads lie, relative to the top of the repository. All throw `path_outside` for unsafe names. */
import { PulseError } from '../../../domain/errors.ts';
import { evidencePath, isBeadId } from '../graph/bead.ts';

export const AGENTS_FILE = 'AGENTS.md';
export const STATE_FILE = '.pulse/STATE.md';
export const ONBOARDING_FILE = '.pulse/onboarding.json';
export const TOOLING_FILE = '.pulse/tooling-status.json';
export const STATUS_SHIM_FILE = '.codex/pulse_status.mjs';
export const MANIFEST_FILE = '.pulse/handoffs/manifest.json';
/** The owner of a handoff in standalone mode. */
export const SINGLE_WORKER = 'single-worker';
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._@+~-]{0,199}$/u;

export function contextFile(feature: string): string {
  return `history/${checkName(feature, 'feature')}/CONTEXT.md`;
}

/** As `evidencePath`, of names that were checked. */
export function evidenceFile(feature: string, beadId: string): string {
  if (!isBeadId(beadId)) throw unsafe(beadId, 'bead');
  return evidencePath(checkName(feature, 'feature'), beadId);
}

/** The owner is `worker-<mail name>` or `single-worker`. */
export function handoffFile(ownerId: string): string {
  const isKnown = ownerId === SINGLE_WORKER || ownerId.startsWith('worker-');
  if (!isKnown) throw unsafe(ownerId, 'owner of a handoff');
  return `.pulse/handoffs/${checkName(ownerId, 'owner of a handoff')}.json`;
}

/** Whether a path is one of `handoffFile`. */
export function isHandoffFile(path: string): boolean {
  const name = /^\.pulse\/handoffs\/([^/]+)\.json$/.exec(path)?.[1] ?? '';
  return NAME.test(name) && (name === SINGLE_WORKER || name.startsWith('worker-'));
}

export function checkpointFile(feature: string, id: string): string {
  // A time has colons, which some systems do not take in a name.
  const name = checkName(id.replaceAll(':', '-'), 'checkpoint');
  return `.pulse/checkpoints/${checkName(feature, 'feature')}/${name}.json`;
}

function checkName(name: string, what: string): string {
  if (NAME.test(name)) return name;
  throw unsafe(name, what);
}

function unsafe(name: string, what: string): PulseError {
  return new PulseError('path_outside', `"${name.slice(0, 100)}" cannot be the name of a ${what}.`, {
    hint: 'Use letters, digits, . _ and -.',
  });
}
