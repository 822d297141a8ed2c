/** An agent asks for files that its bead does not list. A person decides, by `pulse bead scope`. */
import { listMessages } from '../../../coordination/mail/read-messages.ts';
import { isPulseError } from '../../../domain/errors.ts';
import type { IdSource } from '../../../domain/ids.ts';
import type { Db, Store } from '../../../store/store.ts';
import type { ToolReply } from '../../../tools/contract.ts';
import { scopeMail, scopeNeeds } from '../files/mail-texts.ts';
import { requireClaim } from '../graph/claim.ts';
import { checkFields } from '../graph/validate.ts';
import { reservationReasons } from './edit-rule.ts';
import { topicOf } from './model.ts';
import { type BeadTry, findTry } from './rows.ts';
import { outsideScope } from './scope.ts';
import { sendAs } from './tell-coordination.ts';
import type { BeadWork } from './work-data.ts';

export interface ScopeRequest {
  work: BeadWork;
  sessionId: string;
  /** The worktree: absolute paths below it are made relative. */
  worktree: string;
  files: readonly string[];
  reason: string;
}

/** Asks once in a try: until a person has answered, asking again is no news. What is allowed already is said at once. */
export async function askScope(
  { store, ids }: { store: Store; ids: IdSource },
  request: ScopeRequest,
): Promise<ToolReply> {
  try {
    return await store.tx('mail', (db) => ask(db, ids, request));
  } catch (error) {
    if (!isPulseError(error)) throw error;
    return {
      ok: false,
      output: error.message,
      reasons: [error.message, ...(error.hint ? [error.hint] : [])],
    };
  }
}

async function ask(db: Db, ids: IdSource, request: ScopeRequest): Promise<ToolReply> {
  const { work, sessionId, reason } = request;
  const { projectId: project, mailName: from, coordinator, epic, beadId } = work;
  const one = await findTry(db, work.tryId);
  const { fields } = await requireClaim(db, project, { id: beadId, fence: one?.fence ?? -1 });
  const asked = checkFields({ files: [...request.files] }, request.worktree).files!;
  const known = fields.files ?? [];
  const files = asked.filter((file) => !known.includes(file) && outsideScope([file], known).length > 0);
  if (files.length === 0) return allowed(db, work, asked);
  files.sort();
  if (await wasAsked(db, { work, one: one!, files }))
    return {
      ok: true,
      output: `The coordinator was asked for ${files.join(', ')} already: the answer comes to your inbox. Until then leave them alone. Do the rest of the bead; where nothing is left without them, end your run with pulse_signal {"signal":"BLOCKED","reason":"…"}.`,
    };
  await sendAs(db, sessionId, {
    ...{ project, from, to: [coordinator], threadId: epic, topic: topicOf(epic), ids },
    ...scopeMail({ beadId, files, reason }),
  });
  return {
    ok: true,
    output: `The coordinator is asked. Leave ${files.join(', ')} alone until the answer is in your inbox.`,
  };
}

async function allowed(db: Db, work: BeadWork, files: readonly string[]): Promise<ToolReply> {
  const held = await reservationReasons(db, work, files);
  const output = [`Bead ${work.beadId} may change ${files.join(', ')} already: nobody was asked.`, ...held];
  return { ok: true, output: output.join(' ') };
}

/** The mail itself says so, also to a run that follows one that died. */
async function wasAsked(
  db: Db,
  { work, one, files }: { work: BeadWork; one: BeadTry; files: readonly string[] },
): Promise<boolean> {
  const { projectId: project, mailName, epic, beadId } = work;
  const { subject } = scopeMail({ beadId, files, reason: '' });
  const messages = await listMessages(db, { project, threadId: epic, topic: topicOf(epic) });
  return messages.some(
    ({ sender_name: sender, created_at: at, body_md: body, ...message }) =>
      sender === mailName &&
      message.subject === subject &&
      at >= one.created_at &&
      body.startsWith(`${scopeNeeds(files)} Reason: `),
  );
}
