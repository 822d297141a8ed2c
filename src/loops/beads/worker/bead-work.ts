/** A run of a bead: dispatched where its work stands, judged while its agent waits, one commit however many runs it takes. */

import type { uuidv7 } from '../../../domain/ids.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { SessionState } from '../../../engine/loop.ts';
import { describeInterruption, plainBrief } from '../../../engine/runner/plain-brief.ts';
import type { PlannedRun, WorkKind, WorkRequest } from '../../../engine/work.ts';
import type { Db, Store } from '../../../store/store.ts';
import type { Tool } from '../../../tools/contract.ts';
import { WORK_TOOLS } from '../../../tools/work/work-tools.ts';
import { contextFile } from '../files/places.ts';
import type { Bead } from '../graph/bead.ts';
import { findBead } from '../graph/rows.ts';
import { askScope } from './ask-scope.ts';
import { createBeadProtocol } from './bead-protocol.ts';
import { bounceTry } from './bounce-try.ts';
import type { ComposeBeadBrief } from './brief.ts';
import { takeMail } from './deliver-mail.ts';
import { editRefusal } from './edit-rule.ts';
import { graphTool } from './graph-tool.ts';
import type { BeadJudge } from './judge-completion.ts';
import { commitSubject, topicOf } from './model.ts';
import { reserveFor } from './reserve-bead.ts';
import { findTry, findWorker, updateTry } from './rows.ts';
import type { BeadsState } from './state.ts';
import { endAs } from './tell-coordination.ts';
import { type BeadWork, beadWorkSchema, readBeadRun } from './work-data.ts';

const BEAD_TOOLS = [
  ...WORK_TOOLS,
  ...['bead_done', 'bead_done_result', 'tdd_red', 'request_scope', 'bead_graph'],
  ...['register_agent', 'send_message', 'reply_message', 'fetch_inbox', 'fetch_topic', 'acknowledge_message'],
  ...['search_messages', 'file_reservation_paths', 'release_file_reservations', 'list_file_reservations'],
  ...['pulse_signal', 'report_usage'],
];

export interface BeadWorkOptions {
  store: Store;
  ids: Parameters<typeof uuidv7>[0];
  judge: BeadJudge;
  compose: ComposeBeadBrief;
  /** Decisions that the bead names and nobody wrote down. Absent: none is looked for. */
  unknownDecisions?(state: SessionState<BeadsState>): Promise<string[]>;
  /** Where the bead wants its evidence, and something else lies. Absent: it is not looked for. */
  occupiedEvidence?(state: SessionState<BeadsState>): Promise<string[]>;
  /** Mail and reservations, in the worker's name. */
  coordinationTools(work: BeadWork, run: CoordinatedRun): readonly Tool[];
}

interface CoordinatedRun {
  sessionId: string;
  attemptId: string;
  worktree: string;
}

export function createBeadWork(options: BeadWorkOptions): WorkKind<BeadWork> {
  const { judge, compose, coordinationTools } = options;
  return {
    kind: 'bead',
    continuesAfterOverflow: true,
    programs: 'beads',
    read: (stored) => beadWorkSchema.parse(stored),
    plan: (engine, request) => planBead(engine, request, options),
    async load(db, work, { owner }) {
      await reserveForRun(db, work, { owner, ids: options.ids });
      return work;
    },
    async composeRetryBrief(_, { state, live, interruption }) {
      const { own } = state as SessionState<BeadsState>;
      if (!own.current) return plainBrief(live.task.task_content);
      return compose({ state, interruption: describeInterruption(interruption) });
    },
    git: ({ baseSha, beadId }, { startSha }) => ({
      parent: baseSha,
      beginsClean: baseSha === startSha,
      isUnit: true,
      trailers: { 'Pulse-Bead': beadId },
    }),
    message({ work, iteration, result }) {
      const { completion } = readBeadRun(result);
      if (!completion) return { subject: `wip: ${work.beadId}, iteration ${iteration}` };
      return { subject: commitSubject({ id: work.beadId, type: work.type }, completion.summary) };
    },
    baseChecks: ({ commands, baseSha }) => ({ commands, baseSha }),
    variables: ({ nickname, coordinator, epic, hint, feature }) => ({
      PULSE_NICKNAME: nickname,
      PULSE_COORDINATOR: coordinator,
      PULSE_THREAD: epic,
      PULSE_TOPIC: topicOf(epic),
      PULSE_HINT: hint ?? '',
      PULSE_FEATURE: feature,
    }),
    protocol(run) {
      const { sessionId, task, spec } = run.attempt;
      const place = { sessionId, attemptId: task.id, worktree: spec.worktreePath };
      const graph = graphTool({ store: options.store, work: run.work, sessionId });
      const more = [graph, ...coordinationTools(run.work, place)];
      const protocol = createBeadProtocol({
        ...run,
        judge,
        more,
        askScope: (asked) =>
          askScope(options, { ...asked, work: run.work, sessionId, worktree: place.worktree }),
        takeNews: () => takeMail(options.store, run),
        refuseEdit: (path) =>
          options.store.read((db) =>
            editRefusal(db, { work: run.work, sessionId, path, tests: spec.referee?.tests }),
          ),
      });
      return {
        ...protocol,
        async settled(end) {
          await protocol.settled?.(end);
          const { attemptId } = place;
          await options.store.tx('release', (db) => endAs(db, { sessionId, attemptId }));
        },
      };
    },
    keptOwn: () => ({}),
  };
}

async function planBead(
  engine: Engine,
  { state: given }: WorkRequest<BeadsState>,
  options: BeadWorkOptions,
): Promise<PlannedRun> {
  const state = given as SessionState<BeadsState>;
  const { session, own } = state;
  const { swarm, worker } = own;
  const { try: one, bead, feature } = own.current!;
  const fault = await faultOfPlan(options, state);
  if (fault !== null) {
    await bounceTry(engine, state, fault);
    return { unit: bead.id, brief: plainBrief(''), isStillDue: async () => false };
  }
  const work: BeadWork = {
    ...{ kind: 'bead', tryId: one.id, beadId: bead.id, type: bead.type },
    ...{ projectId: swarm.project_id, epic: swarm.epic, feature },
    ...{ mailName: worker!.mail_name!, nickname: worker!.nickname, coordinator: swarm.coordinator },
    ...{ hint: swarm.hint, baseSha: one.start_sha, isDebugging: one.again?.kind === 'debugging' },
    commands: commandsOf(bead),
  };
  return {
    unit: bead.id,
    brief: await options.compose({ state, interruption: null }),
    startSha: one.wip_sha ?? one.start_sha,
    part: {
      role: work.isDebugging ? 'debugging' : 'bead',
      tools: BEAD_TOOLS,
      verifyOn: 'never',
      setup: session.setup,
      // The lead has set its own checkout up where there are several workers.
      preparedIn: swarm.workers > 1 ? own.lead.worktree_path : null,
      work,
    },
    write: (db) => updateTry(db, one.id, { runs: one.runs + 1 }),
  };
}

/** Why nobody can work on the bead as it is planned. */
async function faultOfPlan(
  { unknownDecisions, occupiedEvidence }: BeadWorkOptions,
  state: SessionState<BeadsState>,
): Promise<string | null> {
  const unknown = (await unknownDecisions?.(state)) ?? [];
  if (unknown.length > 0)
    return `It names ${unknown.join(', ')}, which ${contextFile(state.own.current!.feature)} does not have.`;
  const occupied = (await occupiedEvidence?.(state)) ?? [];
  if (occupied.length === 0) return null;
  return `Its verification_evidence names ${occupied.join(', ')}, where something else lies: Pulse writes only over earlier evidence.`;
}

/**
 * Again for each run: the one before may have been another worker's, or of a process that is dead. What others hold by
 * now stays theirs, and its edit is refused.
 */
async function reserveForRun(
  db: Db,
  { projectId, beadId, tryId }: BeadWork,
  claim: { owner: string; ids: BeadWorkOptions['ids'] },
): Promise<void> {
  const one = await findTry(db, tryId);
  const worker = one && (await findWorker(db, one.session_id));
  const bead = await findBead(db, projectId, beadId);
  if (!worker || bead?.claim?.fence !== one.fence) return;
  await reserveFor(db, { bead, worker, projectId, ...claim });
}

/** Each once, in their order. */
function commandsOf({ fields }: Bead): string[] {
  const green = fields.testing_mode === 'tdd-required' && fields.tdd_steps ? [fields.tdd_steps.green] : [];
  return [...new Set([...green, ...(fields.verify ?? []).map(({ command }) => command)])];
}
