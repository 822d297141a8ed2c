import type { CoordinationCall } from '../../coordination/tools/coordination-run.ts';
import { createCoordinationTools } from '../../coordination/tools/coordination-tools.ts';
import type { LoopHost } from '../../engine/loops.ts';
import { treeOf } from '../../git/git-dir.ts';
import { currentOwner, formatOwner } from '../../process/owner.ts';
import { appendEvents } from '../../store/events.ts';
import type { Db, Store } from '../../store/store.ts';
import { hasAgentsFile } from './files/committed-files.ts';
import { ownerOf } from './files/handoff-payload.ts';
import { consumeHandoff, findHandoff } from './files/handoffs.ts';
import { conflictMail } from './files/mail-texts.ts';
import { appendCompleted } from './files/state-file.ts';
import { EPIC } from './graph/bead.ts';
import { listBeads } from './graph/rows.ts';
import { createBeadsLoop } from './index.ts';
import { composeBeadBrief, findOccupiedEvidence, findUnknownDecisions } from './worker/brief.ts';
import { handOffWork } from './worker/hand-off.ts';
import { createBeadJudge } from './worker/judge-completion.ts';
import { MOST_AT_ONCE } from './worker/merge-work.ts';
import { topicOf } from './worker/model.ts';
import { listTries, listWorkers, markWorker, type Swarm } from './worker/rows.ts';
import { eventsOfCall, sendAs } from './worker/tell-coordination.ts';

/** On the real git, rooms and files. */
export function openBeadsLoop(host: LoopHost) {
  const { store, ids, git, environment, redactor, sandboxes, referee } = host;
  const judging = { store, git, environment, redactor, sandboxes, referee };
  const owner = formatOwner(currentOwner());
  return createBeadsLoop({
    store,
    ids,
    referee,
    treeOf: (cwd, commit) => treeOf(git, { cwd, commit }),
    judge: createBeadJudge(judging),
    compose: (request) => composeBeadBrief({ store, git }, request),
    unknownDecisions: (state) => findUnknownDecisions(git, state),
    occupiedEvidence: (state) => findOccupiedEvidence(git, state),
    hasAgentsFile: ({ own, session }) =>
      hasAgentsFile({ git, cwd: session.project_path, commit: own.leadHead }),
    coordinationTools: ({ projectId: project, mailName, beadId, coordinator, epic }, { worktree, ...run }) =>
      createCoordinationTools({
        ...{ store, ids, project, agentName: mailName, holder: { ...run, owner }, root: worktree },
        redact: (text) => redactor.redact(text),
        record: (db, call) => recordCall(db, call, { epic, sessionId: run.sessionId }),
        onConflict: (conflicts) =>
          store.tx('mail', async (db) => {
            const holders = [...new Set(conflicts.map(({ holder: name }) => name))];
            const mail = conflictMail({ beadId, files: conflicts.map(({ path }) => path), holders });
            const place = {
              project,
              from: mailName,
              to: [coordinator],
              threadId: epic,
              topic: topicOf(epic),
            };
            await sendAs(db, run.sessionId, { ...place, ...mail, ids });
          }),
      }),
    handOff: handOffWork,
    /** Standalone has nobody to report to: what is completed stands in STATE.md. */
    async writeState({ own, session }) {
      const { swarm, worker } = own;
      if (own.open.length <= MOST_AT_ONCE)
        await consumeWhereDone(store, { swarm, root: session.project_path });
      const isAlone = swarm.mode === 'standalone';
      // Its brief has quoted it: what the worker before has left is taken over. The lead resumes nothing.
      const owner = worker && ownerOf(isAlone ? null : worker.mail_name);
      if (owner !== null && (await findHandoff(session.project_path, owner)))
        await consumeHandoff(session.project_path, owner, { at: new Date().toISOString() });
      if (!isAlone) return;
      const tries = await store.read((db) => listTries(db, swarm.session_id));
      for (const { status, bead_id: beadId, commit_sha: commit, completion, ended_at: at } of tries)
        if (status === 'closed' && commit)
          await appendCompleted(session.project_path, {
            ...{ beadId, commit, summary: completion?.summary ?? '', at: at ?? new Date().toISOString() },
          });
    },
  });
}

/** Where the last bead is closed nobody has anything to resume. */
async function consumeWhereDone(
  store: Store,
  { swarm, root }: { swarm: Swarm; root: string },
): Promise<void> {
  const { project_id: projectId, epic, session_id: id, mode } = swarm;
  const { workers, beads } = await store.read(async (db) => ({
    workers: await listWorkers(db, id),
    beads: await listBeads(db, projectId, { epic }),
  }));
  if (beads.some(({ status, type }) => status !== 'closed' && type !== EPIC)) return;
  for (const { mail_name: name, left_for } of workers)
    if (left_for !== null && name !== null)
      await consumeHandoff(root, ownerOf(mode === 'standalone' ? null : name), {
        at: new Date().toISOString(),
      });
}

/** What the agent itself has read counts: see `reasonsNotToAsk`. What it wrote and reserved is told. */
async function recordCall(
  db: Db,
  call: CoordinationCall,
  { epic, sessionId }: { epic: string; sessionId: string },
): Promise<void> {
  if (call.type === 'inbox_fetched') await markWorker(db, sessionId, 'inbox_at');
  if (call.type === 'topic_fetched' && call.topic === topicOf(epic))
    await markWorker(db, sessionId, 'topic_at');
  const events = eventsOfCall(call);
  if (events.length > 0) await appendEvents(db, sessionId, events);
}
