/** Codex's rollouts: one line after the other. Its entries have no ids, so that session and line make one. */
import {
  type Ancestor,
  below,
  createTimes,
  derivedUuid,
  isRecord,
  type TranscriptReader,
  textOfContent,
} from './transcript.ts';

const KINDS = ['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted'];
/** What Codex itself tells the model in the user's name. */
const NOT_SAID = ['<environment_context>', '<user_instructions>'];

export function isCodexEntry({ type, payload }: Record<string, unknown>): boolean {
  return typeof type === 'string' && KINDS.includes(type) && isRecord(payload);
}

/** The folder in which the session worked, where the entry tells it. */
export function codexFolder({ type, payload }: Record<string, unknown>): string | null {
  if (type !== 'session_meta' || !isRecord(payload)) return null;
  return typeof payload.cwd === 'string' ? payload.cwd : null;
}

/** `fallback` stands for the session's id where the file does not tell it. */
export function createCodexReader(fallback: string): TranscriptReader {
  let session: string | null = null;
  let last: Ancestor | null = null;
  const timeOf = createTimes();
  return {
    read({ type, payload, timestamp }, line) {
      const createdAt = timeOf(timestamp);
      if (!isRecord(payload)) return null;
      if (type === 'session_meta' && typeof payload.id === 'string') session ??= payload.id;
      const { role } = payload;
      if (type !== 'response_item' || payload.type !== 'message') return null;
      if (role !== 'user' && role !== 'assistant') return null;
      const content = textOfContent(payload.content, isSaid);
      if (content === '' || isTold(content)) return null;
      const id = derivedUuid(`codex\n${session ?? fallback}\n${line}`);
      const turn = { id, ...below(last), namedParentId: null, role, content, createdAt } as const;
      last = { id, depth: turn.depth };
      return { turn };
    },
  };
}

function isSaid({ type, text }: Record<string, unknown>): boolean {
  const isText = type === 'input_text' || type === 'output_text' || type === 'text';
  return isText && typeof text === 'string' && !isTold(text);
}

function isTold(text: string): boolean {
  return NOT_SAID.some((tag) => text.trimStart().startsWith(tag));
}
