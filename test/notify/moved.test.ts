/** A group of Telegram that becomes a supergroup: it has another id from then on. */
import { expect, it, onTestFinished } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { stopOfMessage, waitingSessions } from '../../src/notify/inbound/rows.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { courier, deliver, routed, rows, say } from './outbox-scene.ts';
import { openTelegram } from './telegram-bot.ts';

onBothStores((open) => {
  it.each([false, true])(
    'gets all that waits, in its order, and is answered there (topics: %s)',
    async (topics) => {
      const store = await open();
      const bot = await openTelegram({ isForum: true });
      onTestFinished(() => bot[Symbol.asyncDispose]());
      const notify = notifySchema.parse({
        telegram: { tokenEnv: 'TOKEN', apiUrl: bot.url, allow: ['42'], chat: '-9', topics },
      });
      const [id, other] = [await routed(store, notify), await routed(store, notify)];
      const means = courier(store, { TOKEN: '12:abc' });
      await say(store, id, 'before');
      expect(await deliver(means)).toBe(1);
      bot.moved.set('-9', '-1009');
      await say(store, id, 'one', 'two');
      await say(store, other, 'three');
      expect(await deliver(means)).toBe(3);
      expect(bot.sent.map(({ chat_id: chat, text }) => [chat, text])).toEqual([
        ['-9', '⏸️ Blocked: before'],
        ...['one', 'two', 'three'].map((words) => ['-1009', `⏸️ Blocked: ${words}`]),
      ]);
      // Nothing of the old group is known in the new one.
      expect(bot.sent[1]!.asked).not.toHaveProperty('reply_parameters');
      const [, one] = await rows(store);
      const place = { accountId: one!.account_id, chat: '-1009', thread: null };
      await store.tx('block', (db) =>
        db.updateTable('pulse_sessions').set({ status: 'blocked' }).where('id', 'in', [id, other]).execute(),
      );
      expect(await store.read((db) => waitingSessions(db, place))).toEqual([id, other].toSorted());
      const told = await store.read((db) =>
        stopOfMessage(db, { ...place, message: String(bot.sent[1]!.message_id) }),
      );
      expect(told).toMatchObject({ sessionId: id, seq: one!.seq });
      const routes = await store.read((db) =>
        withNotifyTables(db).selectFrom('notify_routes').select('destination').execute(),
      );
      expect(new Set(routes.map(({ destination }) => destination))).toEqual(new Set(['-1009']));
      // A session that still names the old one reaches the new one, too.
      await say(store, await routed(store, notify), 'four');
      expect(await deliver(means)).toBe(1);
      expect(bot.sent.at(-1)).toMatchObject({ chat_id: '-1009', text: '⏸️ Blocked: four' });
    },
  );
});
