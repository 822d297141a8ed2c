/** The small model's side of a workflow: pulse branches, work in progress, recovery checkpoints, preflight. */
import { PulseError } from '../../src/domain/errors.ts';
import { unitWipRef } from '../../src/git/refs.ts';
import { parsePlan } from '../../src/loops/workflow/plan.ts';
import type { PulseWorktree } from '../../src/loops/workflow/pulse-worktree.ts';
import { insertPulse, insertWorkflow, updateWorkflow } from '../../src/loops/workflow/rows.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { type AgentScript, shortRef, type WorldAccess } from './world.ts';

export function createFakePulses({ world, gate }: WorldAccess): PulseWorktree {
  return {
    async open(_, { branch, at }) {
      await gate('open');
      const now = world.branches.get(branch);
      if (now !== undefined && now !== at) throw new PulseError('ref_moved', `${branch} at ${now}`);
      world.branches.set(branch, at);
    },
    async drop(_, { pulse_branch: branch }) {
      world.branches.delete(branch!);
    },
    async giveUp({ id }, { pulse, work, taskId }) {
      await gate('give up');
      const { pulse_branch: branch, start_sha: startSha, planned_pulse_id: planned } = pulse;
      const head = world.branches.get(branch!)!;
      let kept = head === startSha ? null : head;
      if (kept === null && work !== null) {
        const sha = `c${world.commits.size}`;
        const content = world.commits.get(work)?.content ?? work;
        world.commits.set(sha, { sha, parent: startSha, content, session: '', iteration: 0 });
        world.branches.set(branch!, sha);
        kept = sha;
      }
      await gate('given up');
      world.refs.delete(`attempt/${taskId}`);
      world.refs.delete(shortRef(unitWipRef(id, planned)));
      return kept;
    },
    async baseline() {
      await gate('baseline');
      const nothing = { summary: '', setupCommands: [], baseline: [], artifacts: [] };
      return { error: null, buildSuccess: true, ...nothing };
    },
    stage: () => Promise.reject(new Error('the scripted agent is not judged')),
    runHooks: () => Promise.reject(new Error('the scripted agent is not judged')),
    runChecks: () => Promise.reject(new Error('the scripted agent is not judged')),
  };
}

/** Two pulses; the first takes two runs. With preflight that is four iterations. */
export const workflowScript: AgentScript = (iteration) =>
  iteration === 2
    ? { finalMessage: 'Not done yet.' }
    : {
        finalMessage: 'Done.',
        accepted: { tree: '' },
        own: {
          completion: {
            summary: `feat: ${iteration}`,
            filesChanged: ['file'],
            unresolvedIssues: [],
            tree: '',
          },
        },
      };

export async function admitWorkflow(store: Store, sessionId: string): Promise<void> {
  const plan = parsePlan({
    title: 'Two pulses',
    pulses: [
      { id: 'a', title: 'A', description: 'do a' },
      { id: 'b', title: 'B', description: 'do b', dependsOn: ['a'] },
    ],
  });
  await store.tx('admit', async (db) => {
    await insertWorkflow(db, { id: 'wfl', sessionId, plan, checks: [], setupSteps: [], extensions: 'auto' });
    await updateWorkflow(db, 'wfl', { approved_at: storeNow(), approved_by: 'test' });
    for (const [position, { id, title }] of plan.pulses.entries()) {
      await insertPulse(db, { id: `pul_${id}`, workflowId: 'wfl', plannedPulseId: id, position, title });
    }
  });
}
