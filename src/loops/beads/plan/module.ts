import type { LoopModule } from '../../../engine/loops.ts';
import { BEAD_PLAN } from './kind.ts';
import { plansMigration } from './rows.ts';

/** A loop beside that of the workers: its sessions draft beads, and execute none. */
export const beadPlan: LoopModule = {
  kind: BEAD_PLAN,
  migrations: [plansMigration],
  async open({ store }) {
    const { createBeadPlanLoop } = await import('./plan-loop.ts');
    return createBeadPlanLoop({ store });
  },
};
