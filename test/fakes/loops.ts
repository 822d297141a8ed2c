/** The loops of Pulse, on fake ports. */
import type { Loop } from '../../src/engine/loop.ts';
import { createLoops, type Loops } from '../../src/engine/loops.ts';
import { plainBrief } from '../../src/engine/runner/plain-brief.ts';
import { type BeadsLoopOptions, createBeadsLoop } from '../../src/loops/beads/index.ts';
import { createGoalLoop, type GoalLoopOptions } from '../../src/loops/goal/index.ts';
import { createResearchLoop, type ResearchLoopOptions } from '../../src/loops/research/index.ts';
import { createWorkflowLoop, type WorkflowLoopOptions } from '../../src/loops/workflow/index.ts';

export interface FakeLoops {
  goal?: Partial<GoalLoopOptions>;
  workflow?: Partial<WorkflowLoopOptions>;
  research?: Partial<ResearchLoopOptions>;
  beads?: Partial<BeadsLoopOptions>;
  /** Beside those of Pulse. */
  others?: readonly Loop[];
}

/** A port that is not given must not be used. */
export function fakeLoopList({ goal, workflow, research, beads, others = [] }: FakeLoops = {}): Loop[] {
  const brief = async () => ({ ...plainBrief('brief'), tokens: 1 });
  return [
    createGoalLoop({ compose: brief, ...goal }),
    createWorkflowLoop({ composeKickoff: brief, ...workflow } as WorkflowLoopOptions),
    createResearchLoop({ compose: brief, ...research } as ResearchLoopOptions),
    createBeadsLoop({ compose: brief, ...beads } as BeadsLoopOptions),
    ...others,
  ];
}

export function fakeLoops(options: FakeLoops = {}): Loops {
  return createLoops(fakeLoopList(options));
}
