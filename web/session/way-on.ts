/** Who decides how a session goes on. The rule is the one that the advised commands are made by. */
import { decisionCommand } from '../../src/domain/next-command.ts';
import type { Card } from '../api/types.ts';

/** `resume`: an answer, or another limit; `checks`: the changed checks; `elsewhere`: its plan, review or extension. */
export type WayOn = 'resume' | 'checks' | 'elsewhere';

/** `null`: it goes on by itself, or it is over. */
export function wayOn(card: Card): WayOn | null {
  const { status } = card;
  if (status === 'blocked' && card.stop_reason === 'checks_changed') return 'checks';
  if (status === 'blocked' && decisionCommand(card)) return 'elsewhere';
  return isLeft(card) || status === 'blocked' || status === 'paused' || status === 'failed' ? 'resume' : null;
}

/** It should be run, and nobody runs it. */
export function isLeft({ status, runner }: Pick<Card, 'status' | 'runner'>): boolean {
  return (status === 'running' || status === 'pending') && runner === 'none';
}
