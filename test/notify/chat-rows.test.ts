/** What is kept of chats, on both stores. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { PulseError } from '../../src/domain/errors.ts';
import { answerMessage, type ChatActions, type Incoming } from '../../src/notify/inbound/answer.ts';
import {
  insertPairing,
  isMember,
  leavePoller,
  movePoller,
  stopOfMessage,
  takePairing,
  takePoller,
  takeUpdate,
} from '../../src/notify/inbound/rows.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { appendEvents } from '../../src/store/events.ts';
import { type Store, storeNow } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { courier, deliver, routed, rows, say } from './outbox-scene.ts';
import { openTelegram } from './telegram-bot.ts';

onBothStores((open) => {
  describe('a message', () => {
    it('counts once, even for many at the same moment', async () => {
      const store = await open();
      const take = (id: string) => store.tx('test', (db) => takeUpdate(db, 'telegram', id));
      const taken = await Promise.all(Array.from({ length: 8 }, () => take('1')));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await take('2')).toBe(true);
    });

    it('counts once for a month, and a text message for good', async () => {
      const store = await open();
      const take = (channel: string) => store.tx('test', (db) => takeUpdate(db, channel, 'SM1'));
      const channels = ['sms-0123', 'telegram-0123'];
      for (const channel of channels) expect(await take(channel)).toBe(true);
      await store.tx('age', (db) =>
        withNotifyTables(db)
          .updateTable('chat_updates')
          .set({ at: storeNow(-31 * 24 * 3_600_000) })
          .execute(),
      );
      expect([await take('sms-0123'), await take('telegram-0123')]).toEqual([false, true]);
    });

    it('is not counted where its effect did not happen, and then is told what is wrong, once', async () => {
      const store = await open();
      let calls = 0;
      const actions = {
        async pause(_: string, by) {
          calls += 1;
          await store.tx('test', async (db) => {
            await by.within(db);
            throw new PulseError('invalid_transition', 'It is over.', { hint: 'Start another.' });
          });
          return 'never';
        },
      } as Partial<ChatActions> as ChatActions;
      const message: Incoming = {
        ...{ channel: 'telegram', id: '1', accountId: 'bot', allow: ['42'], sender: '42', chat: '42' },
        ...{ command: { do: 'pause', session: 'x' }, repliesTo: null },
      };
      expect(await answerMessage({ store, actions }, message)).toEqual({
        text: 'It is over.\nStart another.',
      });
      expect(await answerMessage({ store, actions }, message)).toBeNull();
      expect(await answerMessage({ store, actions }, { ...message, id: '2', sender: '43' })).toBeNull();
      // What was brought twice is not even tried again.
      expect(calls).toBe(1);
    });
  });

  it('a message that came while the store was away is done when it is brought again', async () => {
    const store = await open();
    let isAway = true;
    const actions = {
      async pause(_: string, by) {
        if (isAway) throw new PulseError('store_unavailable', 'It does not answer.', { retryable: true });
        await store.tx('test', (db) => by.within(db));
        return 'It pauses.';
      },
    } as Partial<ChatActions> as ChatActions;
    const message: Incoming = {
      ...{ channel: 'telegram', id: '1', accountId: 'bot', allow: ['42'], sender: '42', chat: '42' },
      ...{ command: { do: 'pause', session: 'x' }, repliesTo: null },
    };
    await expect(answerMessage({ store, actions }, message)).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    isAway = false;
    expect(await answerMessage({ store, actions }, message)).toEqual({ text: 'It pauses.' });
  });

  it('a reply to a question that was answered already is for that question', async () => {
    const store = await open();
    const bot = await openTelegram();
    onTestFinished(() => bot[Symbol.asyncDispose]());
    const id = await routed(store, {
      telegram: { tokenEnv: 'TOKEN', apiUrl: bot.url, allow: ['42'], chat: '42' },
    });
    await say(store, id, 'Why?');
    await store.tx('resume', (db) =>
      appendEvents(db, id, [{ type: 'session.resumed', data: { actor: 'cli', answer: 'Therefore.' } }]),
    );
    const means = courier(store, { TOKEN: '12:abc' });
    while ((await deliver(means)) > 0);
    const [question, resumed] = await rows(store);
    expect([question, resumed].map((row) => row?.provider_id)).toEqual(['1001', '1001']);
    // A database may give rows back as they lie, and one that was changed lies last.
    for (const name of ['other', '1001'])
      await store.tx('touch', (db) =>
        withNotifyTables(db)
          .updateTable('notifications')
          .set({ provider_id: name })
          .where('number', '=', question!.number)
          .execute(),
      );
    const place = { accountId: question!.account_id, chat: '42', thread: null, message: '1001' };
    expect(await store.read((db) => stopOfMessage(db, place))).toEqual({
      ...{ sessionId: id, seq: question!.seq, isStop: true },
    });
  });

  describe('a code', () => {
    const pair = (store: Store, code: string, sender: string) =>
      store.tx('test', (db) => takePairing(db, { channel: 'telegram', code, accountId: 'bot', sender }));

    it('pairs one sender with one bot, within its time', async () => {
      const store = await open();
      await store.tx('test', (db) => insertPairing(db, 'telegram', 'c0de'));
      expect(await pair(store, 'wrong', '7')).toBe(false);
      const paired = await Promise.all(['7', '8', '9'].map((sender) => pair(store, 'C0DE', sender)));
      expect(paired.filter(Boolean)).toHaveLength(1);
      const sender = ['7', '8', '9'][paired.indexOf(true)]!;
      expect(await store.read((db) => isMember(db, 'bot', sender))).toBe(true);
      expect(await store.read((db) => isMember(db, 'other-bot', sender))).toBe(false);
      await store.tx('test', (db) => insertPairing(db, 'telegram', 'late'));
      await store.tx('test', (db) =>
        withNotifyTables(db)
          .updateTable('chat_pairings')
          .set({ until: storeNow(-1_000) })
          .execute(),
      );
      expect(await pair(store, 'late', '10')).toBe(false);
    });
  });

  describe('the reading for a bot', () => {
    it('is one process’s at a time, and continues where the one before was', async () => {
      const store = await open();
      const take = (owner: string, gone: string[] = []) =>
        store.tx('test', (db) => takePoller(db, 'bot', { owner, isGone: (other) => gone.includes(other) }));
      const all = await Promise.all(['a', 'b', 'c'].map((owner) => take(owner)));
      expect(all.filter((held) => held !== null)).toHaveLength(1);
      const first = ['a', 'b', 'c'][all.findIndex((held) => held !== null)]!;
      const { token } = (await take(first))!;
      await store.tx('test', (db) => movePoller(db, 'bot', { token, position: '7' }));
      const next = (await take('d', [first]))!;
      expect(next).toMatchObject({ position: '7' });
      // The one before still reads, and does not know: it moves nothing.
      await store.tx('test', (db) => movePoller(db, 'bot', { token, position: '3' }));
      await store.tx('test', (db) => leavePoller(db, 'bot', next.token));
      expect(await take('e')).toMatchObject({ position: '7' });
    });
  });
});
