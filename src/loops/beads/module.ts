import type { LoopModule } from '../../engine/loops.ts';
import { beadTables } from './table-module.ts';

export const beads: LoopModule = {
  ...beadTables,
  async open(host) {
    const { openBeadsLoop } = await import('./open.ts');
    return openBeadsLoop(host);
  },
};
