/** What a service refuses, and what is given up for it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { PulseError } from '../../src/domain/errors.ts';
import { notifySchema } from '../../src/domain/notify.ts';
import { retryNotification } from '../../src/notify/view-outbox.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { courier, deliver, hurry, routed, rows, say, service } from './outbox-scene.ts';
import { openSlack } from './slack-app.ts';

const SECRET = { SECRET: 'sssh-be-quiet' };

/** A service where a way may be closed: a webhook has none. */
async function closedScene(store: Store) {
  const bot = await service({ ok: true, result: { message_id: 7 } });
  const telegram = { tokenEnv: 'TOKEN', apiUrl: bot.url, chat: '42' };
  return { bot, notify: notifySchema.parse({ telegram }), means: courier(store, { TOKEN: '1:abc' }) };
}

async function slackScene(store: Store) {
  const slack = await openSlack();
  onTestFinished(() => slack[Symbol.asyncDispose]());
  const notify = notifySchema.parse({
    slack: { appTokenEnv: 'APP', botTokenEnv: 'BOT', apiUrl: slack.url, channel: 'C9' },
  });
  const id = await routed(store, notify);
  return { slack, id, means: courier(store, { APP: slack.tokens.app, BOT: slack.tokens.bot }) };
}

onBothStores((open) => {
  it('a refusal after an outage is the first, and loses nothing', async () => {
    const store = await open();
    const { bot, means, notify } = await closedScene(store);
    await say(store, await routed(store, notify), 'one');
    const answers = [503, 503, 503, 503, 404, 503, 404, 404, 404, 404];
    bot.replies.push(...answers.map((status) => ({ status })));
    for (const _ of answers) {
      expect(await deliver(means)).toBe(0);
      expect((await rows(store))[0]).toMatchObject({ status: 'waiting' });
      await hurry(store);
    }
    expect(await deliver(means)).toBe(1);
  });

  it('a refusal after a long outage is tried again soon: it holds up those behind it', async () => {
    const store = await open();
    const { bot, means, notify } = await closedScene(store);
    await say(store, await routed(store, notify), 'one');
    bot.replies.push(...Array.from({ length: 9 }, () => ({ status: 503 })), { status: 404 });
    for (let n = 0; n < 10; n++) {
      await hurry(store);
      await deliver(means);
    }
    expect(Date.parse((await rows(store))[0]!.run_at) - Date.now()).toBeLessThan(3_000);
  });

  describe('on Slack', () => {
    it.each(['invalid_auth', 'not_in_channel'])(
      'a message outlives %s, which a person puts right',
      async (error) => {
        const store = await open();
        const { slack, id, means } = await slackScene(store);
        await say(store, id, 'one');
        slack.errors.push(error);
        expect(await deliver(means)).toBe(0);
        expect((await rows(store))[0]).toMatchObject({ status: 'waiting', error });
        await hurry(store);
        expect(await deliver(means)).toBe(1);
      },
    );

    it('a wrong token is a wrong token for a day, and a closed channel for half a minute', async () => {
      const store = await open();
      const { slack, id, means } = await slackScene(store);
      await say(store, id, 'one');
      for (let n = 0; n < 10; n++) {
        slack.errors.push('invalid_auth');
        await deliver(means);
        await hurry(store);
      }
      expect((await rows(store))[0]).toMatchObject({ status: 'waiting', attempts: 10 });
      for (let n = 0; n < 5; n++) {
        slack.errors.push('not_in_channel');
        await deliver(means);
        await hurry(store);
      }
      expect((await rows(store))[0]).toMatchObject({ status: 'failed', error: 'not_in_channel' });
      await say(store, id, 'two');
      slack.errors.push('msg_too_long');
      await deliver(means);
      expect((await rows(store))[1]).toMatchObject({ status: 'failed', attempts: 1 });
    });
  });

  it('an address that is gone (410) is asked no more, until a person tries again', async () => {
    const store = await open();
    const hook = await service();
    const notify = { webhooks: [{ url: hook.url, secretEnv: 'SECRET' }] };
    const id = await routed(store, notify);
    await say(store, id, 'one', 'two');
    hook.replies.push({ status: 410 });
    expect(await deliver(courier(store, SECRET))).toBe(0);
    await say(store, await routed(store, notify), 'three');
    expect(await deliver(courier(store, SECRET))).toBe(0);
    expect(hook.got).toHaveLength(1);
    expect((await rows(store)).map(({ status, error }) => [status, error])).toEqual([
      ['failed', 'HTTP 410'],
      ['failed', expect.stringContaining('it is gone')],
      ['failed', expect.stringContaining('it is gone')],
    ]);
    const last = String((await rows(store)).at(-1)!.number);
    await store.tx('retry', (db) => retryNotification(db, last));
    expect(await deliver(courier(store, SECRET))).toBe(1);
    await say(store, id, 'four');
    expect(await deliver(courier(store, SECRET))).toBe(1);
  });

  it('what was sent while the store was away is noted when it is back, and not sent twice', async () => {
    const store = await open();
    const hook = await service();
    await say(store, await routed(store, { webhooks: [{ url: hook.url, secretEnv: 'SECRET' }] }), 'one');
    let awayFor = 3;
    const away: Store = {
      ...store,
      read: (...call) => store.read(...call),
      tx: (label, ...call) =>
        label === 'notify_sent' && awayFor-- > 0
          ? Promise.reject(new PulseError('store_unavailable', 'It is away.', { retryable: true }))
          : store.tx(label, ...call),
    };
    expect(await deliver({ ...courier(store, SECRET), store: away })).toBe(1);
    expect(await deliver(courier(store, SECRET))).toBe(0);
    expect(hook.got).toHaveLength(1);
    expect(await rows(store)).toMatchObject([{ status: 'sent', attempts: 1 }]);
  });
});
