/** What a run of a bead is told. */
import { listForBrief } from '../../../coordination/mail/deliver.ts';
import { listMessages, type Message } from '../../../coordination/mail/read-messages.ts';
import type { SessionState } from '../../../engine/loop.ts';
import type { ComposedBrief } from '../../../engine/ports.ts';
import type { Git } from '../../../git/exec.ts';
import { TEST_GLOBS } from '../../../referee/pins/test-files.ts';
import type { Db, Store } from '../../../store/store.ts';
import { countedBrief, openNotes } from '../../shared/brief-tools.ts';
import { type BeadBriefInput, beadBrief } from '../files/bead-brief.ts';
import { readBriefFiles, readUnknownDecisions } from '../files/brief-files.ts';
import { evidencePaths, occupiedPaths } from '../files/declared-evidence.ts';
import { ownerOf } from '../files/handoff-payload.ts';
import { blockersOf } from '../graph/bead.ts';
import { topicOf } from './model.ts';
import { type BeadWorker, lastEndOf, type Swarm } from './rows.ts';
import type { BeadsState } from './state.ts';

export interface BeadBriefRequest {
  state: SessionState<BeadsState>;
  /** Set when the attempt before this one broke off. */
  interruption: string | null;
}

export type ComposeBeadBrief = (request: BeadBriefRequest) => Promise<ComposedBrief>;

const MESSAGES_TOLD = 10;

export async function composeBeadBrief(
  { store, git }: { store: Store; git: Git },
  { state, interruption }: BeadBriefRequest,
): Promise<ComposedBrief> {
  const { session, control, own } = state;
  const { swarm, worker, lead } = own;
  const { bead, feature } = own.current!;
  const { fields } = bead;
  const mailName = worker!.mail_name;
  const [evidencePath, ...alsoEvidence] = evidencePaths(fields, { feature, id: bead.id });
  const files = await readBriefFiles(filesQuery(git, state));
  const notes = await openNotes(store, state);
  const mail = await store.tx('mail', async (db) => {
    const own = await listForBrief(db, {
      ...{ project: swarm.project_id, agent: mailName ?? '', limit: MESSAGES_TOLD },
    });
    return [...(await newsOfTopic(db, swarm, worker!)), ...own].sort(
      (one, other) => one.number - other.number,
    );
  });
  const text = beadBrief({
    bead: {
      ...{ id: bead.id, title: bead.title, type: bead.type, body: bead.body },
      ...{ files: fields.files ?? [], verify: fields.verify ?? [] },
      ...{ testingMode: fields.testing_mode ?? 'standard', tddSteps: fields.tdd_steps ?? null },
      ...{ decisionRefs: fields.decision_refs ?? [], dependencies: blockersOf(bead.dependencies) },
    },
    inputs: {
      ...{ mode: swarm.mode, nickname: worker!.nickname, mailName, coordinator: swarm.coordinator },
      ...{ thread: swarm.epic, topic: topicOf(swarm.epic), hint: swarm.hint, feature },
    },
    ...{ files, branch: lead.branch_name, evidencePath, alsoEvidence },
    mail,
    testGlobs: control.settings.referee?.tests ?? TEST_GLOBS,
    notes: notes.map(({ text: note }) => note),
    answer: control.answer,
    isShellOnly: session.agent === 'command',
    ...troubleOf(own, interruption),
  });
  return countedBrief({ text, notes, strategy: control.settings.contextStrategy });
}

/**
 * Where Pulse has read the topic for the worker before it took this bead: what others have written there since its last
 * one, and not to it.
 */
async function newsOfTopic(
  db: Db,
  { project_id: project, epic }: Swarm,
  { session_id: id, mail_name: name, acknowledged_at, topic_at: readAt }: BeadWorker,
): Promise<Message[]> {
  const since = (await lastEndOf(db, id)) ?? acknowledged_at ?? '';
  if (name === null || readAt === null || readAt <= since) return [];
  const messages = await listMessages(db, { project, topic: topicOf(epic), limit: MESSAGES_TOLD });
  return messages.filter(
    ({ sender_name: from, to, created_at: at }) => at > since && from !== name && !to.includes(name),
  );
}

/** Which decisions the bead names that nobody wrote down. */
export function findUnknownDecisions(git: Git, state: SessionState<BeadsState>): Promise<string[]> {
  return readUnknownDecisions(filesQuery(git, state));
}

/** Where the bead wants its evidence, and something else lies. */
export function findOccupiedEvidence(
  git: Git,
  { session, own }: SessionState<BeadsState>,
): Promise<string[]> {
  const { try: one, bead, feature } = own.current!;
  const [, ...paths] = evidencePaths(bead.fields, { feature, id: bead.id });
  return occupiedPaths(git, { id: bead.id, cwd: session.project_path, tree: one.start_sha, paths });
}

function filesQuery(git: Git, { session, own }: SessionState<BeadsState>) {
  const { swarm, worker } = own;
  const { try: one, bead, feature } = own.current!;
  return {
    commit: { git, id: one.start_sha },
    ...{ worktree: session.worktree_path, root: session.project_path, feature },
    learningRefs: bead.fields.learning_refs ?? [],
    decisionRefs: bead.fields.decision_refs ?? [],
    body: bead.body,
    ownerId: ownerOf(swarm.mode === 'worker' ? worker!.mail_name : null),
  };
}

function troubleOf(
  { current, leadHead }: BeadsState,
  interruption: string | null,
): Pick<BeadBriefInput, 'again' | 'debugging' | 'mergeConflict' | 'hasCompacted'> {
  const again = current!.try.again;
  const broken = interruption === null ? [] : [interruption];
  if (again === null) return broken.length > 0 ? { again: { reasons: broken } } : {};
  switch (again.kind) {
    case 'merge_conflict':
      return {
        ...(broken.length > 0 ? { again: { reasons: broken } } : {}),
        mergeConflict: { onto: leadHead, paths: [], output: again.text },
      };
    case 'compacted':
      return { again: { reasons: [again.text, ...broken] }, hasCompacted: true };
    case 'debugging':
      return { again: { reasons: [again.text, ...broken] }, debugging: { failures: [] } };
    default:
      return { again: { reasons: [again.text, ...broken] } };
  }
}
