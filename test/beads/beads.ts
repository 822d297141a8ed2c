/** Beads for tests: made, changed and read as the operations do it. */
import {
  type BeadInput,
  closeBead,
  createBead,
  type NewBead,
  updateBead,
} from '../../src/loops/beads/graph/change.ts';
import { readNext } from '../../src/loops/beads/graph/claim.ts';
import type { NextQuery } from '../../src/loops/beads/graph/next.ts';
import { lockProject } from '../../src/loops/beads/graph/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { ids } from '../coordination/both-stores.ts';

export const PROJECT = 'project-1';

/** What a bead needs to be worked on. */
export const READY = {
  fields: { files: ['src/a.ts'], verify: [{ command: 'true' }] },
} as const satisfies BeadInput;

export interface Beads {
  create(bead?: Partial<NewBead>): ReturnType<typeof createBead>;
  update(id: string, input: BeadInput & { status?: string }): ReturnType<typeof updateBead>;
  close(id: string, reason?: string): ReturnType<typeof closeBead>;
  next(query?: Partial<NextQuery>): ReturnType<typeof readNext>;
}

export function beadsOf(store: Store): Beads {
  return {
    create: (bead = {}) =>
      store.tx('create', async (db) =>
        createBead(db, await lockProject(db, PROJECT), {
          bead: { title: 'A bead', prefix: 'test', ...READY, ...bead },
          ids,
        }),
      ),
    update: (id, { status, ...input }) =>
      store.tx('update', async (db) =>
        updateBead(db, await lockProject(db, PROJECT), { id, input, status, ids }),
      ),
    close: (id, reason = 'Closed') =>
      store.tx('close', async (db) => closeBead(db, await lockProject(db, PROJECT), { id, reason })),
    next: (query = {}) => readNext(store, { projectId: PROJECT, ...query }),
  };
}
