/** The run that drafts beads: it may look and run commands; what it changes is thrown away. */
import * as z from 'zod';
import { isPulseError } from '../../../domain/errors.ts';
import type { SessionState } from '../../../engine/loop.ts';
import type { ComposedBrief } from '../../../engine/ports.ts';
import type { RunProtocol, WorkKind, WorkRequest } from '../../../engine/work.ts';
import type { Store } from '../../../store/store.ts';
import { defineTool, type ToolReply } from '../../../tools/contract.ts';
import { countedBrief } from '../../shared/brief-tools.ts';
import { listBeads, readDependencies } from '../graph/rows.ts';
import { planBrief } from './brief.ts';
import { type BeadDraft, parseDraft } from './draft.ts';
import type { BeadPlanState } from './plan-loop.ts';

/** Named in the iteration of a drafting run. */
export const PLAN_UNIT = 'plan';

const PLAN_TOOLS = [
  ...['read_file', 'list_directory', 'glob_search', 'grep', 'shell'],
  ...['propose_beads', 'pulse_signal', 'report_usage'],
];

const workSchema = z.object({ kind: z.literal('plan_beads'), projectId: z.string() });
type PlanWork = z.infer<typeof workSchema>;

/** What comes of a run: the last good draft, or why the last one was not. */
export interface PlanRun {
  draft: BeadDraft | null;
  faults: string | null;
}

export function createPlanWork(store: Store): WorkKind<PlanWork> {
  return {
    kind: 'plan_beads',
    read: (stored) => workSchema.parse(stored),
    async plan(_, { state }: WorkRequest<BeadPlanState>) {
      const { recent, own } = state;
      const { project_id: projectId } = own.plan;
      return {
        unit: PLAN_UNIT,
        brief: await compose(store, state),
        recoversLast: recent[0]?.unit === PLAN_UNIT,
        part: {
          ...{ role: 'planner', tools: PLAN_TOOLS, verifyOn: 'never', setup: [] },
          work: { kind: 'plan_beads', projectId },
        },
      };
    },
    composeRetryBrief: (_, { state }) => compose(store, state as SessionState<BeadPlanState>),
    keepsNothing: true,
    protocol: ({ work }) => createPlanProtocol(store, work),
  };
}

async function compose(
  store: Store,
  { session, control, own }: SessionState<BeadPlanState>,
): Promise<ComposedBrief> {
  const { project_id: projectId, faults } = own.plan;
  const beads = await store.read((db) => listBeads(db, projectId));
  const known = beads.filter(({ status }) => status !== 'closed');
  const text = planBrief({ goal: session.goal, known, answer: control.answer, faults });
  return countedBrief({ text, strategy: control.settings.contextStrategy });
}

/** Every fault is told at once, while the agent can still mend it. */
function createPlanProtocol(store: Store, { projectId }: PlanWork): RunProtocol {
  let run: PlanRun = { draft: null, faults: null };
  async function propose(value: unknown): Promise<ToolReply> {
    const known = await store.read((db) => readDependencies(db, projectId));
    try {
      const draft = parseDraft(value, known);
      run = { draft, faults: null };
      const output = `Noted: ${draft.beads.length} beads. A person reads them first; end your run now.`;
      return { ok: true, output };
    } catch (error) {
      if (!isPulseError(error, 'invalid_input')) throw error;
      run = { ...run, faults: error.hint ?? error.message };
      return { ok: false, output: error.message, reasons: (error.hint ?? '').split('\n') };
    }
  }
  const tool = defineTool({
    name: 'propose_beads',
    description:
      'Propose the epic and its beads: {epic: {id, title, body?, feature?}, beads: [{id, title, body, files, verify, dependencies?, …}]}. The last good draft counts.',
    input: z.object({ draft: z.record(z.string(), z.unknown()) }),
    call: ({ draft }) => propose(draft),
  });
  return { tools: [tool], report: () => ({ own: run }) };
}
