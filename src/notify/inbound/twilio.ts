/** Text messages that Twilio brings to `/hooks/twilio`, signed with the account's token. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Incoming } from './answer.ts';
import { readWords } from './words.ts';

/** Over the address that Twilio was given, and every field in the order of the names. */
export function isSignedByTwilio(
  { url, fields, token }: { url: string; fields: ReadonlyMap<string, string>; token: string },
  signature: string,
): boolean {
  const names = [...fields.keys()].toSorted();
  const text = names.reduce((sum, name) => `${sum}${name}${fields.get(name)}`, url);
  const expected = createHmac('sha1', token).update(text, 'utf8').digest();
  const given = Buffer.from(signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** `null`: it is no message that can be read. */
export function readText(fields: ReadonlyMap<string, string>): Omit<Incoming, 'accountId' | 'allow'> | null {
  const [id, sender, text] = ['MessageSid', 'From', 'Body'].map((name) => fields.get(name));
  if (!id || !sender || text === undefined) return null;
  // The tag of a session, as the messages of Pulse end in one.
  const tag = /\s#([0-9a-f]{4})\s*$/i.exec(text);
  const command = readWords(tag ? text.slice(0, tag.index) : text, { needsSlash: false });
  const isTagged = tag && command.do === 'answer';
  return {
    ...{ channel: 'sms' as const, id, sender, chat: sender, repliesTo: null },
    command: isTagged
      ? { do: 'answer', text: text.trim(), tag: { session: tag[1]!.toLowerCase(), text: command.text } }
      : command,
  };
}

export function replyXml(text: string | null): string {
  const head = '<?xml version="1.0" encoding="UTF-8"?>';
  return text === null
    ? `${head}<Response/>`
    : `${head}<Response><Message>${escapeXml(text)}</Message></Response>`;
}

function escapeXml(text: string): string {
  const safe = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
  // Nothing that XML cannot hold.
  return text
    .replaceAll(/[&<>]/g, (sign) => safe[sign as keyof typeof safe])
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '?');
}
