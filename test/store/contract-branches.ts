/** The part of the store's contract that gives a branch to one session. */
import { describe, expect, it } from 'vitest';
import { explainTakenBranch, requireFreeBranch } from '../../src/store/session-branches.ts';
import { getSession, moveSession } from '../../src/store/sessions.ts';
import type { Store } from '../../src/store/store.ts';
import { admit } from '../fakes/admit.ts';
import { sessionId } from './rows.ts';

export function branchesContract(open: () => Promise<Store>): void {
  const branch = { branch_of: 'project-1', branch_name: 'shared' };

  describe('a branch', () => {
    it('is one unfinished session’s in a project, even where nobody looked first', async () => {
      const store = await open();
      const first = await admit(store, { ...branch, id: sessionId(1) });
      const second = { ...branch, id: sessionId(2) };
      await expect(admit(store, second).catch(explainTakenBranch('shared'))).rejects.toMatchObject({
        code: 'branch_exists',
      });
      await expect(store.read((db) => requireFreeBranch(db, branch))).rejects.toMatchObject({
        code: 'branch_exists',
        data: { session: first },
      });
      // Those that work for it share it, and another project has its own.
      await admit(store, { ...branch, id: sessionId(3), parent_session_id: first });
      await admit(store, { ...branch, id: sessionId(4), branch_of: 'project-2' });
      await store.tx('test', async (db) =>
        moveSession(db, await getSession(db, first), 'aborted', { reason: 'aborted_by_user', detail: null }),
      );
      await store.read((db) => requireFreeBranch(db, branch));
      await admit(store, second);
    });
  });
}
