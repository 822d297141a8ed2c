/** `finish --implement`: the next steps as a plan. A test holds it to the rules of plans. */
import type { NextStep } from './findings.ts';

export interface ImplementationInput {
  goal: string;
  /** The session's branch: what was kept is what is built on. */
  branch: string;
  inScope: readonly string[];
  /** What must pass before anything is kept. */
  guard: string | undefined;
  findings: string;
  steps: readonly NextStep[];
}

const TITLE = 200;

export function implementationPlan(input: ImplementationInput) {
  const { goal, branch, inScope, guard, findings, steps } = input;
  return {
    title: oneLine(`Implement what research found: ${goal}`, 500),
    base: branch,
    approach: `${findings}\n\nThe steps stand in order of worth. What was measured in: ${inScope.join(', ')}.`,
    pulses: steps.map(({ title, description }, index) => ({
      id: `step-${index + 1}`,
      title: oneLine(title, TITLE),
      description,
    })),
    ...(guard ? { verify: [{ command: guard, source: 'Test' }] } : {}),
  };
}

function oneLine(text: string, longest: number): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, longest).toWellFormed();
}
