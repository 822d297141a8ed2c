import type { FailureClass } from '../../domain/failures.ts';
import type { Refusal } from '../claude/failure.ts';
import type { ClaudeMessage } from '../claude/lines.ts';
import { failureOfStatus } from '../shared/http-failure.ts';
import { readLimit } from '../shared/limit-words.ts';

/** A refusal for too many requests is followed by a line of advice. */
const REFUSED = /\[API Error: ([\s\S]*)\](?:\n[^\]]*)?$/;
/** A login that no longer works: qwen says so without brackets. */
const NO_LOGIN = /^Qwen OAuth free tier has been discontinued/;
const OVERFLOW = /context (?:window|length)|maximum context|input token count|too long/i;
const NETWORK =
  /^(?:Connection error|terminated|fetch failed|Request timed out)|\bE(?:CONN|NOTFOUND|TIMEDOUT)/;

/**
 * qwen reports a refused call as a success with exit 0, and puts the refusal in place of the answer. A model could write
 * the same text, but not without using tokens: so a message without usage is a refusal.
 */
export function qwenRefusal({ message }: ClaudeMessage): Refusal | null {
  const { usage, content } = message;
  if (!usage || usage.input_tokens + usage.output_tokens > 0) return null;
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (NO_LOGIN.test(text)) return { failure: 'auth', isUnanswered: false };
  const said = REFUSED.exec(text)?.[1];
  return said === undefined ? null : { failure: classifyRefusal(said), isUnanswered: false };
}

function classifyRefusal(said: string): FailureClass {
  const status = /^(\d{3})\b/.exec(said)?.[1];
  // qwen does not say when a limit ends, so the time of reading does not matter.
  if (readLimit(said, 0)) return 'usage_limit';
  if (status === '400' && OVERFLOW.test(said)) return 'context_overflow';
  const known = status === undefined ? null : failureOfStatus(Number(status));
  return known ?? (NETWORK.test(said) ? 'network' : 'crashed');
}
