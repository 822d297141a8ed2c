/** A note steers a session without stopping it; to one that asked, it may be the answer. */
import { turnFromNote, turnOf } from '../context/turns.ts';
import { PulseError } from '../domain/errors.ts';
import { uuidv7 } from '../domain/ids.ts';
import { RESUMABLE_STATUSES, TERMINAL_STATUSES } from '../domain/status.ts';
import { storedTurn } from '../engine/runner/turns.ts';
import { appendEvents } from '../store/events.ts';
import { insertNote } from '../store/notes.ts';
import { getControl, getSession, listChildren, type Session } from '../store/sessions.ts';
import { insertTurn, newestTurn } from '../store/turns.ts';
import type { Operations, TransactionHook } from './context.ts';
import { ownSession, type Resumed, resume } from './control.ts';

const MAX_NOTE_BYTES = 64 * 1024;

export interface NoteInput {
  text: string;
  /** It answers what the session asked: the session continues. */
  isAnswer?: boolean;
  actor: string;
  within?: TransactionHook;
}

/** Durable when it returns. The next brief quotes it once; a running agent is told as soon as it can be. */
export async function note(operations: Operations, id: string, input: NoteInput): Promise<Resumed> {
  const { store, bell, ids } = operations.engine;
  const { text, isAnswer = false, actor, within } = input;
  checkText(text);
  const session = ownSession(await store.read((db) => getSession(db, id)), 'note');
  refuseEnded(session);
  if (isAnswer) return answer(operations, session, input);
  const noted = await store.tx(
    'note',
    async (db) => {
      const now = await getSession(db, session.id);
      refuseEnded(now);
      const { project_id: projectId } = await getControl(db, now.id);
      const parent = await newestTurn(db, { sessionId: now.id });
      const origin = { id: uuidv7(ids), parent: parent && turnOf(parent), projectId, createdAt: '' };
      const turn = turnFromNote({ ...origin, sessionId: now.id, iteration: now.current_iteration }, text);
      await insertTurn(db, storedTurn(turn));
      // Those who work for it have the briefs: each of them quotes it once.
      const workers = (await listChildren(db, now.id)).filter(
        ({ status }) => !TERMINAL_STATUSES.includes(status),
      );
      const readers = workers.length > 0 ? workers : [now];
      for (const { id: reader } of readers)
        await insertNote(db, { id: uuidv7(ids), session_id: reader, text, actor });
      await appendEvents(db, now.id, [{ type: 'note.added', data: { actor, text } }]);
      await within?.(db, now.id);
      return now;
    },
    { session: session.id },
  );
  bell.ring(session.id);
  return { session: noted, next: 'attach' };
}

async function answer(operations: Operations, session: Session, input: NoteInput): Promise<Resumed> {
  const { text, actor, within } = input;
  if (!RESUMABLE_STATUSES.includes(session.status)) {
    throw new PulseError(
      'invalid_transition',
      `Session ${session.id} is ${session.status}: it asked nothing.`,
      {
        hint: `Without --answer it is a note: pulse note ${session.id} "…"`,
      },
    );
  }
  return resume(operations, session.id, { answer: text, actor, within });
}

function refuseEnded({ id, status }: Session): void {
  if (!TERMINAL_STATUSES.includes(status)) return;
  throw new PulseError('invalid_transition', `Session ${id} is ${status}: nobody would read a note.`, {
    hint: `pulse follow ${id} "…" starts another on its branch.`,
  });
}

function checkText(text: string): void {
  if (text.trim() === '')
    throw new PulseError('usage', 'The note is empty.', {
      hint: 'pulse note ID "what the agent should know"',
    });
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_NOTE_BYTES) {
    throw new PulseError('too_large', `The note has ${bytes} bytes; at most ${MAX_NOTE_BYTES} fit.`, {
      hint: 'Put the details into a file of the repository and name it.',
    });
  }
  if (text.includes('\0')) throw new PulseError('invalid_input', 'The note contains a NUL character.');
}
