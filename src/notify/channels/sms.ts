import type * as z from 'zod';
import type { smsSchema } from '../../domain/notify.ts';
import type { Outcome, Sender } from './channel.ts';
import { ask, isSuccess, outcomeOf } from './request.ts';
import { fitText } from './sms-text.ts';

type Settings = z.infer<typeof smsSchema>;

export const sms: Sender<Settings> = {
  needs: ({ authTokenEnv }) => [authTokenEnv],
  skips: ({ weight }, { events }) => weight === 'news' && events !== 'all',
  async send({ text, destination, about }, means) {
    const { plain = false } = means.settings;
    // A digest is about many.
    const tag = about.type === 'notify.digest' ? '' : ` #${about.sessionId.slice(-4)}`;
    return sendText(means, { to: destination, text: fitText(text, { isPlain: plain, tag }) });
  },
};

export async function sendText(
  { settings, secret, signal }: { settings: Settings; secret(name: string): string; signal: AbortSignal },
  { to, text }: { to: string; text: string },
): Promise<Outcome> {
  const { accountSid, authTokenEnv, from, apiUrl = 'https://api.twilio.com' } = settings;
  const answer = await ask({
    url: `${apiUrl.replace(/\/$/, '')}/2010-04-01/Accounts/${accountSid}/Messages.json`,
    headers: {
      authorization: `Basic ${Buffer.from(`${accountSid}:${secret(authTokenEnv)}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ To: to, From: from, Body: text }).toString(),
    signal,
  });
  const { sid, message } = answer.json;
  return isSuccess(answer)
    ? { kind: 'sent', providerId: typeof sid === 'string' ? sid : null }
    : outcomeOf(answer, message);
}
