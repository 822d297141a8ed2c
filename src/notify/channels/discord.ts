import { createHash } from 'node:crypto';
import type * as z from 'zod';
import type { discordSchema } from '../../domain/notify.ts';
import { cut } from '../texts.ts';
import type { Sender } from './channel.ts';
import { ask, isSuccess, outcomeOf } from './request.ts';

const MOST_CHARACTERS = 2_000;
/** Without a sound. */
const SILENT = 1 << 12;

/** Before the id of somebody who is written to directly. */
export const PERSON = 'user:';

export const discord: Sender<z.infer<typeof discordSchema>> = {
  needs: ({ tokenEnv }) => [tokenEnv],
  async send({ text, weight, destination, key }, { settings, secret, signal }) {
    const { apiUrl = 'https://discord.com/api', tokenEnv } = settings;
    const body = {
      content: cut(text, MOST_CHARACTERS),
      // It shows a message with the same nonce once.
      nonce: createHash('sha256').update(key).digest('hex').slice(0, 25),
      enforce_nonce: true,
      // What an agent wrote calls nobody.
      allowed_mentions: { parse: [] },
      ...(weight === 'news' ? { flags: SILENT } : {}),
    };
    const headers = { authorization: `Bot ${secret(tokenEnv)}`, 'content-type': 'application/json' };
    const post = (path: string, sent: object) =>
      ask({
        url: `${apiUrl.replace(/\/$/, '')}/v10/${path}`,
        headers,
        body: JSON.stringify(sent),
        signal,
      });
    let channel = destination;
    if (destination.startsWith(PERSON)) {
      const person = destination.slice(PERSON.length);
      const opened = await post('users/@me/channels', { recipient_id: person });
      if (!isSuccess(opened) && opened.status !== 404) return outcomeOf(opened, opened.json.message);
      channel = typeof opened.json.id === 'string' ? opened.json.id : person;
    }
    const answer = await post(`channels/${encodeURIComponent(channel)}/messages`, body);
    const { id, message } = answer.json;
    return isSuccess(answer)
      ? { kind: 'sent', providerId: typeof id === 'string' ? id : null }
      : outcomeOf(answer, message);
  },
};
