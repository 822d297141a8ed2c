/** What settling a bead's iteration writes: the try, the bead, its reservations, the reports. */

import { fetchInbox } from '../../../coordination/mail/read-messages.ts';
import { leastTrust, type Trust } from '../../../domain/check-words.ts';
import type { NewEvent } from '../../../domain/events.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { Settling } from '../../../engine/loop.ts';
import { appendEvents } from '../../../store/events.ts';
import { getControl, getSession, updateControl, updateSession } from '../../../store/sessions.ts';
import type { Db } from '../../../store/store.ts';
import { completionMail } from '../files/mail-texts.ts';
import { closeBead } from '../graph/change.ts';
import { releaseClaim } from '../graph/claim.ts';
import { closeDoneEpics } from '../graph/close-epics.ts';
import { getBead, lockProject } from '../graph/rows.ts';
import { evidenceOf, topicOf } from './model.ts';
import { isTopicStale } from './next-gate.ts';
import { type BeadTry, type BeadWorker, markWorker, type Swarm, updateTry, updateWorker } from './rows.ts';
import type { BeadChange, BeadsState, MergeChange, MergedBead } from './state.ts';
import { releaseAs, sendAs } from './tell-coordination.ts';

type Settlement = Settling<BeadsState> & { ids: IdSource };

export async function settleBead(db: Db, settlement: Settlement): Promise<readonly NewEvent[]> {
  const change = settlement.verdict.change as BeadChange | MergeChange | undefined;
  if (!change) return [];
  if (change.kind === 'merge') return settleMerge(db, settlement, change);
  const { try: one, contextUsed } = change;
  await updateTry(db, one.id, {
    status: change.to,
    ...(change.wip === undefined ? {} : { wip_sha: change.wip }),
    ...(change.again === undefined ? {} : { again: change.again }),
    ...(change.completion === undefined ? {} : { completion: change.completion }),
    ...(change.commit === undefined ? {} : { commit_sha: change.commit }),
    ...(change.to === 'working' || change.to === 'accepted' ? { commit_sha: null } : {}),
    ...(change.reason === undefined ? {} : { reason: change.reason }),
    ...(change.startSha === undefined ? {} : { start_sha: change.startSha }),
  });
  if (contextUsed != null) await updateWorker(db, settlement.state.session.id, { context_used: contextUsed });
  if (change.to === 'closed') {
    const { completion, commit } = change;
    const { lead, worker } = settlement.state.own;
    await moveLead(db, lead.id, { commit: commit!, trust: completion!.judgement?.trust ?? 'verified' });
    const { files } = settlement.result;
    const closed = { try: one, commit: commit!, files, completion: completion! };
    const event = await closeAndReport(db, settlement, { ...closed, worker: worker! });
    await appendEvents(db, lead.id, [event]);
    return [event];
  }
  if (settlement.verdict.stop?.reason === 'checks_changed') return recordAsked(db, settlement, change);
  if (change.to === 'blocked') return giveBack(db, settlement, change);
  if (settlement.verdict.stop?.status === 'failed') await letGo(db, settlement, change);
  return [];
}

/** The lead's: what is merged is closed for its worker, the rest is its worker's again. */
async function settleMerge(
  db: Db,
  settlement: Settlement,
  { merged, returned }: MergeChange,
): Promise<NewEvent[]> {
  const { workers } = settlement.state.own;
  const events: NewEvent[] = [];
  for (const bead of merged) {
    const { try: one, commit, completion } = bead;
    await updateTry(db, one.id, { status: 'closed', commit_sha: commit, completion, wip_sha: null });
    const worker = workers.find(({ session_id: id }) => id === one.session_id)!;
    const event = await closeAndReport(db, settlement, { ...bead, worker });
    await appendEvents(db, one.session_id, [event]);
    events.push(event);
  }
  for (const { try: one, to, startSha, wip, conflicts, again, reason } of returned) {
    const isAgain = to === 'working';
    await updateTry(db, one.id, {
      ...{ status: to, start_sha: startSha, wip_sha: wip, conflicts, again, reason },
      ...(isAgain ? { completion: null } : {}),
    });
    const event: NewEvent = { type: 'bead.returned', data: { bead: one.bead_id, reason } };
    await appendEvents(db, one.session_id, [event]);
    events.push(event);
  }
  return events;
}

/** In one transaction with the settled iteration: a closed bead has its commit on the branch. */
async function closeAndReport(
  db: Db,
  { state, ids }: Settlement,
  { try: one, worker, commit, files, completion }: MergedBead & { worker: BeadWorker },
): Promise<NewEvent> {
  const { project_id: project, coordinator, epic, mode } = state.own.swarm;
  const { summary, followUps } = completion;
  const lock = await lockProject(db, project);
  const bead = await getBead(db, project, one.bead_id);
  // A person may have closed it meanwhile, or given it to another: that word stands.
  if (bead.claim?.fence === one.fence)
    await closeBead(db, lock, { id: bead.id, reason: `Completed: ${summary}` });
  if (bead.epic !== epic) await closeDoneEpics(db, lock, epic);
  const from = worker.mail_name!;
  await releaseAs(db, worker.session_id, { project, agent: from });
  if (mode === 'worker') {
    const { subject, body } = completionMail({
      ...{ nickname: worker.nickname, mailName: from, beadId: bead.id, summary, followUps },
      ...{ files, commit, evidencePaths: evidenceOf(completion) },
      ...{ verification: passedWords(bead.fields.verify?.length ?? 0), verificationStatus: 'passed' },
    });
    const place = { project, from, to: [coordinator], threadId: epic, topic: topicOf(epic), ids };
    await sendAs(db, worker.session_id, { ...place, subject, body });
  }
  await readInbox(db, state.own.swarm, worker);
  const { outdated } = completion;
  const data = { bead: bead.id, title: bead.title, commit, summary, followUps, worker: from, outdated };
  return { type: 'bead.closed', data };
}

/** The worker is over: its bead is open for the one that takes its place. */
async function letGo(db: Db, { state, verdict }: Settlement, { try: one }: BeadChange): Promise<void> {
  const { project_id: project } = state.own.swarm;
  await releaseIfOurs(db, one, 'open');
  await releaseAs(db, one.session_id, { project, agent: state.own.worker!.mail_name! });
  await updateTry(db, one.id, { status: 'released', reason: verdict.stop?.detail ?? null });
}

/** A person may have closed the bead meanwhile, or given it to another: that word stands. */
export async function releaseIfOurs(db: Db, one: BeadTry, status: 'open' | 'blocked'): Promise<void> {
  const { project_id: project, bead_id: id, fence } = one;
  const lock = await lockProject(db, project);
  const bead = await getBead(db, project, id);
  if (bead.claim?.fence === fence) await releaseClaim(db, lock, { id, fence, status });
}

function passedWords(count: number): string {
  return count === 1 ? '1 command passed' : `${count} commands passed`;
}

async function giveBack(
  db: Db,
  { state, ids }: Settlement,
  { try: one, bead, reason }: BeadChange,
): Promise<NewEvent[]> {
  const { swarm, worker } = state.own;
  const { project_id: project, coordinator, epic } = swarm;
  await releaseIfOurs(db, one, 'blocked');
  const from = worker!.mail_name!;
  await releaseAs(db, one.session_id, { project, agent: from });
  await sendAs(db, one.session_id, {
    ...{ project, from, to: [coordinator], threadId: epic, topic: topicOf(epic), ids },
    subject: `Blocked ${bead.id}`,
    body: reason ?? 'No reason was given.',
  });
  await readInbox(db, swarm, worker!);
  const data = { bead: bead.id, title: bead.title, reason, worker: from };
  return reportToLead(db, state, { type: 'bead.blocked', data });
}

async function recordAsked(db: Db, { state }: Settlement, { bead, reason }: BeadChange): Promise<NewEvent[]> {
  const data = { bead: bead.id, title: bead.title, reason, worker: state.own.worker!.mail_name };
  return reportToLead(db, state, { type: 'bead.asked', data });
}

/** Who follows the swarm sees what becomes of its beads. */
export async function reportToLead(
  db: Db,
  { own }: { own: BeadsState },
  event: NewEvent,
): Promise<NewEvent[]> {
  await appendEvents(db, own.lead.id, [event]);
  return [event];
}

/** Before the next bead the inbox has been read, and the topic too where nothing came on it for a while. */
export async function readInbox(db: Db, swarm: Swarm, worker: BeadWorker): Promise<void> {
  const { project_id: project, epic, mode } = swarm;
  const { mail_name: agent, session_id: sessionId } = worker;
  if (!agent) return;
  await fetchInbox(db, { project, agent, topic: topicOf(epic) });
  await markWorker(db, sessionId, 'inbox_at');
  // What it has is quoted in the brief of the bead that it takes now: see `newsOfTopic`.
  if (mode === 'worker' && (await isTopicStale(db, swarm, worker)))
    await markWorker(db, sessionId, 'topic_at');
}

/** The bead is on the lead's branch: every worker begins there from now on. */
async function moveLead(
  db: Db,
  leadId: string,
  { commit, trust }: { commit: string; trust: Trust },
): Promise<void> {
  const { head_sha: before } = await getControl(db, leadId);
  if (before === commit) return;
  await updateControl(db, leadId, { head_sha: commit });
  const lead = await getSession(db, leadId);
  const total = lead.total_commits + 1;
  await updateSession(db, leadId, { total_commits: total, trust: leastTrust(lead.trust, trust) });
}
