/** What each loop says about the operations that every session has. */

import type { LoopRules } from '../operations/loop-rules.ts';
import { beadsRules } from './beads/operations/rules.ts';
import { researchRules } from './research/operations/rules.ts';
import { workflowRules } from './workflow/operations/rules.ts';

const RULES: Readonly<Record<string, LoopRules>> = {
  goal: { countsIterations: true },
  workflow: workflowRules,
  research: researchRules,
  beads: beadsRules,
};

const NONE: LoopRules = {};

export function rulesFor(kind: string): LoopRules {
  return RULES[kind] ?? NONE;
}
