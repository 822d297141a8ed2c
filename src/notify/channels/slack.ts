import type * as z from 'zod';
import type { slackSchema } from '../../domain/notify.ts';
import type { Button } from '../buttons.ts';
import { cut } from '../texts.ts';
import type { Outcome, Sender, Sending } from './channel.ts';
import { type Answer, ask, isSuccess, outcomeOf } from './request.ts';

type Settings = z.infer<typeof slackSchema>;

/** It takes more, and shows no more of a block. */
const MOST_CHARACTERS = 3_000;
/** Before the name of the message under which the others stand. */
export const THREAD = 'thread:';
/** What may pass by itself; all else that it says is for good. */
const PASSING = ['ratelimited', 'internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'];

export const slack: Sender<Settings> = {
  needs: ({ botTokenEnv }) => [botTokenEnv],
  isTwoWay: true,
  async send(sending, means) {
    const { destination: channel, thread, weight, edits } = sending;
    if (edits !== undefined)
      return sentOr(await callSlack(means, 'chat.update', { channel, ts: edits, ...wordsOf(sending) }));
    const root = thread?.startsWith(THREAD) ? thread.slice(THREAD.length) : null;
    const outcome = sentOr(
      await callSlack(means, 'chat.postMessage', {
        ...{ channel, ...wordsOf(sending), unfurl_links: false, unfurl_media: false },
        // What needs a person is shown in the channel, too.
        ...(root === null ? {} : { thread_ts: root, reply_broadcast: weight === 'needs' }),
      }),
    );
    if (outcome.kind !== 'sent' || outcome.providerId === null) return outcome;
    return { ...outcome, thread: thread ?? `${THREAD}${outcome.providerId}` };
  },
};

/** As plain text: nothing that an agent wrote is markup, or calls anybody. */
function wordsOf({ text, buttons = [] }: Sending): object {
  const words = cut(text, MOST_CHARACTERS);
  return {
    text: escapeSlack(words),
    blocks: [
      { type: 'section', text: { type: 'plain_text', text: words, emoji: true } },
      ...(buttons.length > 0 ? [{ type: 'actions', elements: buttons.map(elementOf) }] : []),
    ],
  };
}

function elementOf({ id, label }: Button): object {
  return {
    ...{ type: 'button', text: { type: 'plain_text', text: label }, action_id: id, value: id },
    ...(label === 'Abort' ? { style: 'danger' } : label === 'Approve' ? { style: 'primary' } : {}),
  };
}

/** Its three special characters. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function sentOr(answer: Answer): Outcome {
  const { ok, ts, error } = answer.json;
  if (isSuccess(answer) && ok === true)
    return { kind: 'sent', providerId: typeof ts === 'string' ? ts : null };
  if (!isSuccess(answer)) return outcomeOf(answer, error);
  const said = typeof error === 'string' ? error.slice(0, 200) : 'no reason was given';
  return { kind: PASSING.includes(said) ? 'later' : 'refused', error: said };
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
