import type { AttemptSpec } from '../../domain/attempt.ts';
import { DEFAULT_REFEREE, type RefereeSettings } from '../../domain/judgement.ts';

/** An attempt that version 0.1 dispatched says nothing about it. */
export function refereeSettings({ referee }: Pick<AttemptSpec, 'referee'>): RefereeSettings {
  return referee ?? DEFAULT_REFEREE;
}
