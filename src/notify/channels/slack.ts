import type * as z from 'zod';
import { cut } from '../../domain/cut.ts';
import type { slackSchema } from '../../domain/notify.ts';
import { type Button, rowsOf } from '../buttons.ts';
import type { Outcome, Sender, Sending } from './channel.ts';
import { type Answer, ask, isSuccess, outcomeOf } from './request.ts';

type Settings = z.infer<typeof slackSchema>;

/** It takes more, and shows no more of a block. */
const MOST_CHARACTERS = 3_000;
/** Before the name of the message under which the others stand. */
export const THREAD = 'thread:';
/** What may pass: it is busy, or its token is wrong until a person puts that right (HTTP 401 elsewhere). */
const PASSING = [
  ...[
    'ratelimited',
    'rate_limited',
    'internal_error',
    'fatal_error',
    'service_unavailable',
    'request_timeout',
  ],
  ...['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'],
];
/** What it says of the message itself. All else is said of the way to it, which a person may mend. */
const FOR_GOOD = [
  ...['msg_too_long', 'msg_blocks_too_long', 'no_text', 'invalid_blocks', 'invalid_blocks_format'],
  ...['invalid_arguments', 'invalid_arg_name', 'invalid_json', 'json_not_object', 'invalid_post_type'],
  ...['message_not_found', 'cant_update_message', 'edit_window_closed'],
];
/** Under a message that is gone nothing more can stand. */
const NO_THREAD = ['thread_not_found', 'cannot_reply_to_message', 'restricted_action_thread_locked'];

export const slack: Sender<Settings> = {
  needs: ({ botTokenEnv }) => [botTokenEnv],
  isTwoWay: true,
  async send(sending, means) {
    const { destination: channel, thread, weight, edits } = sending;
    if (edits !== undefined)
      return sentOr(await callSlack(means, 'chat.update', { channel, ts: edits, ...wordsOf(sending) }));
    const root = thread?.startsWith(THREAD) ? thread.slice(THREAD.length) : null;
    const post = (under: string | null) =>
      callSlack(means, 'chat.postMessage', {
        ...{ channel, ...wordsOf(sending), unfurl_links: false, unfurl_media: false },
        // What needs a person is shown in the channel, too.
        ...(under === null ? {} : { thread_ts: under, reply_broadcast: weight === 'needs' }),
      });
    const first = await post(root);
    const isLost = root !== null && NO_THREAD.includes(String(first.json.error));
    const answer = isLost ? await post(null) : first;
    const outcome = sentOr(answer);
    if (outcome.kind !== 'sent' || outcome.providerId === null) return outcome;
    const where = answer.json.channel;
    return {
      ...{ ...outcome, thread: root === null || isLost ? `${THREAD}${outcome.providerId}` : thread },
      // A person, or a channel by its name: what is written there comes under its id.
      ...(typeof where === 'string' && where !== channel ? { movedTo: where } : {}),
    };
  },
};

/** As plain text: nothing that an agent wrote is markup, or calls anybody. */
export function wordsOf({ text, buttons = [] }: Pick<Sending, 'text' | 'buttons'>): object {
  const words = cut(text, MOST_CHARACTERS);
  return {
    text: escapeSlack(words),
    blocks: [
      { type: 'section', text: { type: 'plain_text', text: words, emoji: true } },
      ...rowsOf(buttons).map((row) => ({ type: 'actions', elements: row.map(elementOf) })),
    ],
  };
}

function elementOf({ id, label }: Button): object {
  return {
    ...{ type: 'button', text: { type: 'plain_text', text: label }, action_id: id, value: id },
    ...(label.startsWith('Abort')
      ? { style: 'danger' }
      : label.startsWith('Approve')
        ? { style: 'primary' }
        : {}),
  };
}

/** Its three special characters. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function sentOr(answer: Answer): Outcome {
  const { ok, ts, error } = answer.json;
  if (isSuccess(answer) && ok === true)
    return { kind: 'sent', providerId: typeof ts === 'string' ? ts : null };
  if (!isSuccess(answer)) return outcomeOf(answer, error);
  const said = typeof error === 'string' ? error.slice(0, 200) : 'no reason was given';
  if (PASSING.includes(said)) return { kind: 'later', error: said };
  return { kind: 'refused', error: said, mayPass: !FOR_GOOD.includes(said) };
}

export interface SlackMeans {
  settings: Settings;
  secret(name: string): string;
  signal: AbortSignal;
}

export function callSlack(
  { settings, secret, signal }: SlackMeans,
  method: string,
  body: object,
): Promise<Answer> {
  const { apiUrl = 'https://slack.com/api', appTokenEnv, botTokenEnv } = settings;
  const token = secret(method === 'apps.connections.open' ? appTokenEnv : botTokenEnv);
  return ask({
    url: `${apiUrl.replace(/\/$/, '')}/${method}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
    signal,
  });
}
