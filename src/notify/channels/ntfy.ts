import type * as z from 'zod';
import { cut } from '../../domain/cut.ts';
import type { ntfySchema } from '../../domain/notify.ts';
import type { Sender } from './channel.ts';
import { ask, hookOutcome, isSuccess } from './request.ts';

/** It makes a file of more than that. */
const MOST_CHARACTERS = 1_000;
const PRIORITIES = { needs: 'high', end: 'default', news: 'low' };

export const ntfy: Sender<z.infer<typeof ntfySchema>> = {
  needs: ({ tokenEnv }) => (tokenEnv === undefined ? [] : [tokenEnv]),
  async send({ text, weight }, { settings: { url, tokenEnv }, secret, signal }) {
    const answer = await ask({
      url,
      headers: {
        title: 'Pulse',
        priority: PRIORITIES[weight],
        'content-type': 'text/plain; charset=utf-8',
        ...(tokenEnv === undefined ? {} : { authorization: `Bearer ${secret(tokenEnv)}` }),
      },
      body: cut(text, MOST_CHARACTERS),
      signal,
    });
    const { id, error } = answer.json;
    return isSuccess(answer)
      ? { kind: 'sent', providerId: typeof id === 'string' ? id : null }
      : hookOutcome(answer, error);
  },
};
