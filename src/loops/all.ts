/** The loops of Pulse. A new one is a folder, and a line here. */
import type { LoopModule } from '../engine/loops.ts';
import { beads } from './beads/module.ts';
import { beadPlan } from './beads/plan/module.ts';
import { goal } from './goal/module.ts';
import { research } from './research/module.ts';
import { workflow } from './workflow/module.ts';

export const LOOPS: readonly LoopModule[] = [goal, workflow, research, beads, beadPlan];
