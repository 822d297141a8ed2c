/** The look of each word that says how something stands or has ended. */
import { describeTrust } from '../../src/domain/check-words.ts';
import type { Trust } from '../api/types.ts';
import type { IconName } from './icons.tsx';

export type Tone = 'working' | 'done' | 'needs' | 'failed' | 'paused' | 'unverified' | 'quiet';

/** By the words of iterations, experiments, tasks, beads, pulses and messages. */
export const OUTCOME: Record<string, [Tone, IconName]> = {
  continued: ['quiet', 'right'],
  completed: ['done', 'done'],
  complete: ['done', 'done'],
  paused: ['paused', 'paused'],
  aborted: ['quiet', 'close'],
  rejected: ['unverified', 'failed'],
  blocked: ['needs', 'needs'],
  kept: ['done', 'done'],
  discarded: ['quiet', 'quiet'],
  crashed: ['failed', 'failed'],
  timeout: ['failed', 'waiting'],
  keep: ['done', 'done'],
  discard: ['quiet', 'quiet'],
  crash: ['failed', 'failed'],
  running: ['working', 'working'],
  dispatched: ['working', 'waiting'],
  pending: ['quiet', 'waiting'],
  failed: ['failed', 'failed'],
  proposed: ['quiet', 'waiting'],
  succeeded: ['done', 'done'],
  stopped: ['paused', 'paused'],
  open: ['quiet', 'waiting'],
  in_progress: ['working', 'working'],
  closed: ['done', 'done'],
  claimed: ['working', 'working'],
  sent: ['done', 'done'],
  waiting: ['quiet', 'waiting'],
  planned: ['quiet', 'waiting'],
  gathered: ['quiet', 'waiting'],
  skipped: ['quiet', 'quiet'],
};

const TRUST: Record<Trust, Tone> = {
  verified: 'done',
  verified_checks_changed: 'needs',
  unverified: 'unverified',
  stale: 'needs',
  false: 'failed',
};

/** The word of every surface; what is no praise is said loudly, and what is not over is verified so far at most. */
export function trustLook(trust: Trust, status: string): [Tone, string] {
  const words = describeTrust(status, trust);
  return [TRUST[trust], trust === 'unverified' || trust === 'false' ? words.toUpperCase() : words];
}
