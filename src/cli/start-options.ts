import type { StartInput } from '../operations/start.ts';
import type { Input } from './parser.ts';

/** What every command that starts a session has in common. */
export function sharedStart(input: Input, cwd: string): Omit<StartInput, 'goal'> {
  return {
    path: input.text('path') ?? cwd,
    createdBy: 'cli',
    projectName: input.text('project'),
    agent: input.text('agent'),
    command: input.text('command'),
    model: input.text('model'),
    budgetUsd: input.usd('budget-usd'),
    budgetTokens: input.number('budget-tokens'),
    timeLimitMs: input.number('time-limit'),
    iterationTimeoutMs: input.number('iteration-timeout'),
    idleTimeoutMs: input.number('idle-timeout'),
    base: input.text('base'),
    branch: input.text('branch'),
    record: input.has('record'),
    sandbox: input.text('sandbox') as StartInput['sandbox'],
    trust: input.has('trust'),
  };
}
