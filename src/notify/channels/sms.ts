import type * as z from 'zod';
import type { smsSchema } from '../../domain/notify.ts';
import { cut, withoutEmoji } from '../texts.ts';
import type { Sender } from './channel.ts';
import { ask, isSuccess, outcomeOf } from './request.ts';

/** Two parts of a message: 67 characters each with an emoji in it, 153 without. */
const MOST = { emoji: 134, plain: 306 };

export const sms: Sender<z.infer<typeof smsSchema>> = {
  needs: ({ authTokenEnv }) => [authTokenEnv],
  skips: ({ weight }, { events }) => weight === 'news' && events !== 'all',
  async send({ text, destination, about }, { settings, secret, signal }) {
    const { accountSid, authTokenEnv, from, apiUrl = 'https://api.twilio.com', plain = false } = settings;
    const tag = ` #${about.sessionId.slice(-4)}`;
    const words = plain ? withoutEmoji(text) : text;
    const body = `${cut(words, (plain ? MOST.plain : MOST.emoji) - tag.length)}${tag}`;
    const answer = await ask({
      url: `${apiUrl.replace(/\/$/, '')}/2010-04-01/Accounts/${accountSid}/Messages.json`,
      headers: {
        authorization: `Basic ${Buffer.from(`${accountSid}:${secret(authTokenEnv)}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ To: destination, From: from, Body: body }).toString(),
      signal,
    });
    const { sid, message } = answer.json;
    return isSuccess(answer)
      ? { kind: 'sent', providerId: typeof sid === 'string' ? sid : null }
      : outcomeOf(answer, message);
  },
};
