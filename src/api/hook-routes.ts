/** Where services bring what people write. A request is as good as its signature: it needs no token. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Chats } from '../pulse.ts';
import type { ApiEnv } from './guard.ts';

export const HOOKS = '/hooks/';

export function addHookRoutes(
  app: OpenAPIHono<ApiEnv>,
  chats: Pick<Chats, 'hearTwilio' | 'hearDiscord'>,
): void {
  app.post(`${HOOKS}twilio`, async (c) => {
    const xml = await chats.hearTwilio({
      path: c.req.path,
      form: await c.req.text(),
      signature: c.req.header('x-twilio-signature') ?? '',
    });
    if (xml === null) return c.text('The signature is wrong.', 403);
    return c.body(xml, 200, { 'Content-Type': 'text/xml; charset=utf-8' });
  });
  app.post(`${HOOKS}discord`, async (c) => {
    const answer = await chats.hearDiscord({
      body: await c.req.text(),
      timestamp: c.req.header('x-signature-timestamp') ?? '',
      signature: c.req.header('x-signature-ed25519') ?? '',
    });
    return answer === null ? c.text('The signature is wrong.', 401) : c.json(answer, 200);
  });
}
