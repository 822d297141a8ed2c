import { agentEnvironment } from '../../process/environment.ts';
import type { HeldAttempt } from '../ports.ts';

/** What a command of an attempt sees: the allowlisted variables, and the ports of its worktree. */
export function attemptEnvironment(
  { spec, ports = {} }: Pick<HeldAttempt, 'spec' | 'ports'>,
  base: NodeJS.ProcessEnv,
  { own = [], add = {} }: { own?: readonly string[]; add?: Record<string, string> } = {},
): Record<string, string> {
  return agentEnvironment({ base, own, pass: spec.environmentPass, add: { ...ports, ...add } });
}
