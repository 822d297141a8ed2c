/** Claude Code's transcripts: each entry names the one before it, so that a conversation may branch. */
import {
  type Ancestor,
  below,
  createTimes,
  type ImportedTurn,
  isRecord,
  isUuid,
  type LineResult,
  type TranscriptReader,
  textOfContent,
} from './transcript.ts';

/** Entries have a type, and name themselves, their session or the entry that they are about. */
export function isClaudeEntry({
  type,
  uuid,
  sessionId,
  leafUuid,
  messageId,
}: Record<string, unknown>): boolean {
  if (typeof type !== 'string') return false;
  return [uuid, sessionId, leafUuid, messageId].some((each) => typeof each === 'string');
}

interface Above {
  turn: Ancestor | null;
  /** An entry that is not in the file, if it stands below one with no turn between. */
  named: string | null;
}

export function createClaudeReader(): TranscriptReader {
  /** For each entry so far the nearest turn: itself, or the one above it. */
  const nearest = new Map<string, Above>();
  let last: Ancestor | null = null;
  const timeOf = createTimes();

  function above({ parentUuid, logicalParentUuid }: Record<string, unknown>): Above {
    const named = parentUuid ?? logicalParentUuid ?? null;
    if (typeof named !== 'string') return { turn: null, named: null };
    // The entry that it names is in another file, or could not be read: what was said before it is the next best.
    return nearest.get(named) ?? { turn: last, named: isUuid(named) ? named : null };
  }

  return {
    read(entry): LineResult {
      const { type, uuid, message, timestamp } = entry;
      const createdAt = timeOf(timestamp);
      const { turn: parent, named } = above(entry);
      const role = type === 'user' || type === 'assistant' ? type : null;
      const content = role && isRecord(message) ? textOfContent(message.content, isText) : '';
      if (role === null || content === '') {
        if (!isUuid(uuid) || nearest.has(uuid)) return null;
        nearest.set(uuid, { turn: parent, named });
        return { entry: { id: uuid, turnId: parent?.id ?? null, namedParentId: named } };
      }
      if (!isUuid(uuid)) return { skip: 'the entry has no UUID' };
      if (nearest.has(uuid)) return { skip: 'an entry before has the same UUID' };
      const turn: ImportedTurn = {
        ...{ id: uuid, ...below(parent), namedParentId: named, role, content, createdAt },
      };
      last = { id: uuid, depth: turn.depth };
      nearest.set(uuid, { turn: last, named: null });
      return { turn };
    },
  };
}

function isText({ type }: Record<string, unknown>): boolean {
  return type === 'text';
}
