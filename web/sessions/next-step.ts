/** The one thing a person would do next with a session, and where its page has it. */
import type { Card } from '../api/types.ts';
import { isLeft, wayOn } from '../session/way-on.ts';

export interface NextStep {
  label: string;
  hash: '#answer' | '#decide';
}

export function nextStep(card: Card): NextStep | null {
  const { stop_reason: reason, kind } = card;
  const way = wayOn(card);
  if (way === null) return null;
  if (way === 'resume') {
    if (isLeft(card)) return { label: 'Adopt', hash: '#answer' };
    return { label: reason === 'blocked_by_agent' ? 'Answer' : 'Resume', hash: '#answer' };
  }
  if (reason === 'approval_required') {
    const isReview = card.current_iteration > 0 && kind === 'workflow';
    return { label: isReview ? 'Review' : 'Approve', hash: '#decide' };
  }
  return { label: 'Decide', hash: '#decide' };
}
