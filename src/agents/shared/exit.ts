import type { AgentExit } from '../contract.ts';

/** How a process ended, as a predicate: "The agent …". */
export function describeExit({ code, signal }: AgentExit): string {
  if (signal !== null) return `was ended by ${signal}`;
  if (code === null) return 'never ran';
  return `exited with code ${code}`;
}
