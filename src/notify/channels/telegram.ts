import type * as z from 'zod';
import type { telegramSchema } from '../../domain/notify.ts';
import { cut } from '../texts.ts';
import type { Sender } from './channel.ts';
import { ask, isSuccess, outcomeOf } from './request.ts';

const MOST_CHARACTERS = 4_096;

export const telegram: Sender<z.infer<typeof telegramSchema>> = {
  needs: ({ tokenEnv }) => [tokenEnv],
  async send({ text, weight, destination }, { settings, secret, signal }) {
    const { apiUrl = 'https://api.telegram.org', tokenEnv } = settings;
    const body = {
      chat_id: destination,
      text: cut(text, MOST_CHARACTERS),
      disable_notification: weight === 'news',
      link_preview_options: { is_disabled: true },
    };
    const answer = await ask({
      url: `${apiUrl.replace(/\/$/, '')}/bot${secret(tokenEnv)}/sendMessage`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    const { json } = answer;
    if (isSuccess(answer) && json.ok === true) {
      const { message_id: id } = (json.result ?? {}) as { message_id?: unknown };
      return { kind: 'sent', providerId: id === undefined ? null : String(id) };
    }
    // It says in the body how long to wait.
    const parameters = (json.parameters ?? {}) as { retry_after?: unknown };
    return outcomeOf({ ...answer, json: { retry_after: parameters.retry_after } }, json.description);
  },
};
