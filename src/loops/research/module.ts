import type { LoopModule } from '../../engine/loops.ts';

export const research: LoopModule = {
  kind: 'research',
  async open(host) {
    const { openResearchLoop } = await import('./open.ts');
    return openResearchLoop(host);
  },
};
