import type { LoopModule } from '../../engine/loops.ts';

export const workflow: LoopModule = {
  kind: 'workflow',
  async open(host) {
    const { openWorkflowLoop } = await import('./open.ts');
    return openWorkflowLoop(host);
  },
};
