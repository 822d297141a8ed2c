/** Signed as Standard Webhooks 1.0 says, so that any of its libraries can check it. */
import { createHmac } from 'node:crypto';
import type * as z from 'zod';
import type { webhookSchema } from '../../domain/notify.ts';
import type { Sender } from './channel.ts';
import { ask, hookOutcome, isSuccess } from './request.ts';

export const webhook: Sender<z.infer<typeof webhookSchema>> = {
  needs: ({ secretEnv }) => [secretEnv],
  async send({ text, key, about }, { settings, secret, signal }) {
    const { type, sessionId, iteration } = about;
    const body = JSON.stringify({ type, sessionId, ...(iteration === null ? {} : { iteration }), text });
    const id = `msg_${key.replaceAll(/[^\w-]/g, '_')}`;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signatures = secret(settings.secretEnv)
      .split(/\s+/)
      .filter(Boolean)
      .map((one) => `v1,${sign(one, `${id}.${timestamp}.${body}`)}`);
    const answer = await ask({
      url: settings.url,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        // Two while a key is being replaced.
        'webhook-signature': signatures.join(' '),
      },
      body,
      signal,
    });
    return isSuccess(answer) ? { kind: 'sent', providerId: id } : hookOutcome(answer, null);
  },
};

function sign(secret: string, content: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret;
  return createHmac('sha256', key).update(content).digest('base64');
}
