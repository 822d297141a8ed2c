import type { LoopModule } from '../../engine/loops.ts';
import { reviewDrafts } from './draft-rows.ts';

export const workflow: LoopModule = {
  kind: 'workflow',
  migrations: [reviewDrafts],
  async open(host) {
    const { openWorkflowLoop } = await import('./open.ts');
    return openWorkflowLoop(host);
  },
};
