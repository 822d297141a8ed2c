import type { LoopModule } from '../../engine/loops.ts';

export const goal: LoopModule = {
  kind: 'goal',
  async open(host) {
    const { openGoalLoop } = await import('./open.ts');
    return openGoalLoop(host);
  },
};
