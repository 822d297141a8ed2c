import type { Loop } from '../../engine/loop.ts';
import type { LoopHost } from '../../engine/loops.ts';
import { composeBrief } from './brief.ts';
import { createGoalLoop } from './index.ts';

export function openGoalLoop({ store, meaning }: LoopHost): Loop {
  return createGoalLoop({ compose: (input) => composeBrief({ store, meaning }, input) });
}
