/** What a session that has stopped asks of a person is decided where the page leads to. */
import { expect, it } from 'vitest';
import type { Card } from '../../web/api/types.ts';
import { wayOn } from '../../web/session/way-on.ts';
import { nextStep } from '../../web/sessions/next-step.ts';

const card = (parts: Partial<Card>): Card =>
  ({
    kind: 'goal',
    status: 'blocked',
    runner: 'none',
    current_iteration: 1,
    total_commits: 1,
    ...parts,
  }) as Card;

it('lets a person resume a swarm whose work could not be merged', () => {
  const swarm = card({ kind: 'beads', stop_reason: 'merge_conflict' });
  expect(wayOn(swarm)).toBe('resume');
  expect(nextStep(swarm)).toEqual({ label: 'Resume', hash: '#answer' });
  const workflow = card({ kind: 'workflow', stop_reason: 'merge_conflict' });
  expect(wayOn(workflow)).toBe('elsewhere');
  expect(nextStep(workflow)).toEqual({ label: 'Decide', hash: '#decide' });
});

it('leaves plans, reviews, extensions and changed checks to their own cards', () => {
  for (const reason of ['approval_required', 'extension_requested'] as const)
    expect(wayOn(card({ kind: 'workflow', stop_reason: reason }))).toBe('elsewhere');
  expect(wayOn(card({ stop_reason: 'checks_changed' }))).toBe('checks');
  const plan = card({ kind: 'workflow', stop_reason: 'approval_required', current_iteration: 0 });
  expect([nextStep(plan)?.label, nextStep({ ...plan, current_iteration: 2 })?.label]).toEqual([
    'Approve',
    'Review',
  ]);
});

it('lets a person adopt what nobody runs, begun or not, and nothing else that runs', () => {
  for (const status of ['pending', 'running'] as const) {
    expect(nextStep(card({ status, stop_reason: null }))?.label).toBe('Adopt');
    expect(nextStep(card({ status, stop_reason: null, runner: 'alive' }))).toBeNull();
  }
  expect(nextStep(card({ status: 'complete', stop_reason: 'completed' }))).toBeNull();
});
