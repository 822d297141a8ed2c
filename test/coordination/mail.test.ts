import { describe, expect, it } from 'vitest';
import { ensureAgent, projectsOfAgent, registerAgent } from '../../src/coordination/mail/agents.ts';
import { deliverMessages, hasUnfetched, listForBrief } from '../../src/coordination/mail/deliver.ts';
import { foldWords } from '../../src/coordination/mail/fold.ts';
import {
  acknowledgeMessage,
  type NewMessage,
  replyMessage,
  sendMessage,
} from '../../src/coordination/mail/messages.ts';
import {
  fetchInbox,
  inboxMessage,
  listMessages,
  type MessageFilter,
  viewMessage,
} from '../../src/coordination/mail/read-messages.ts';
import type { Store } from '../../src/store/store.ts';
import { ids, onBothStores } from './both-stores.ts';

const project = 'repo-1';

async function register(store: Store, ...names: string[]): Promise<void> {
  for (const name of names) await store.tx('mail', (db) => registerAgent(db, { project, name, ids }));
}

const send = (store: Store, message: Partial<NewMessage>) =>
  store.tx('mail', (db) =>
    sendMessage(db, { project, from: 'Fox', to: ['Owl'], subject: 'Hello', body: 'text', ids, ...message }),
  );
const list = (store: Store, filter: MessageFilter = {}) =>
  store.read((db) => listMessages(db, { project, ...filter }));
const subjects = async (messages: Promise<{ subject: string }[]>) =>
  (await messages).map(({ subject }) => subject);

onBothStores((open) => {
  describe('what is delivered without being asked for', () => {
    const delivery = { project, agent: 'Owl', limit: 5 };
    const deliver = (store: Store) => store.tx('mail', (db) => deliverMessages(db, delivery));
    const waits = (store: Store) => store.read((db) => hasUnfetched(db, delivery));

    it('comes once, the oldest first, however many ask at once', async () => {
      const stores = await Promise.all([open(), open()]);
      const [store] = stores as [Store, Store];
      await register(store, 'Fox', 'Owl');
      expect(await waits(store)).toBe(false);
      for (let number = 1; number <= 12; number++) await send(store, { subject: `m${number}` });
      expect(await waits(store)).toBe(true);
      expect(await subjects(deliver(store))).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
      const rest = await Promise.all(Array.from({ length: 12 }, (_, index) => deliver(stores[index % 2]!)));
      const told = rest.flat().map(({ subject }) => subject);
      expect(told).toHaveLength(7);
      expect(new Set(told).size).toBe(7);
      expect(await waits(store)).toBe(false);
    });

    it('is nothing that was fetched, or that a brief has shown', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl');
      await send(store, { subject: 'one' });
      await store.tx('mail', (db) => fetchInbox(db, { project, agent: 'Owl' }));
      expect(await waits(store)).toBe(false);
      await send(store, { subject: 'two', topic: 'epic-1' });
      const brief = store.tx('mail', (db) => listForBrief(db, delivery));
      expect(await subjects(brief)).toEqual(['one', 'two']);
      expect(await waits(store)).toBe(false);
      expect(await subjects(store.tx('mail', (db) => listForBrief(db, delivery)))).toEqual(['one', 'two']);
      expect(await deliver(store)).toEqual([]);
    });
  });

  describe('a name', () => {
    it('that is taken gives another, also when many ask at once', async () => {
      const store = await open();
      const given = await Promise.all(
        Array.from({ length: 20 }, () =>
          store.tx('mail', (db) => registerAgent(db, { project, name: 'Fox', ids })),
        ),
      );
      const expected = ['Fox', ...Array.from({ length: 19 }, (_, index) => `Fox-${index + 2}`)];
      expect(given.map(({ name }) => name).sort()).toEqual(expected.sort());
      const elsewhere = await store.tx('mail', (db) =>
        registerAgent(db, { project: 'other', name: 'Fox', ids }),
      );
      expect(elsewhere.name).toBe('Fox');
      const projects = await store.read((db) => projectsOfAgent(db, 'Fox'));
      expect(projects.sort()).toEqual(['other', project]);
    });

    it('is made up where none is asked for, and made usable where it is not', async () => {
      const store = await open();
      const named = (name?: string) => store.tx('mail', (db) => registerAgent(db, { project, name, ids }));
      expect((await named()).name).toMatch(/^[A-Z][a-z]+[A-Z][a-z]+$/);
      expect((await named(' Blue Fox\u001b[31m ')).name).toBe('Blue-Fox-31m');
      await expect(named('--- ')).rejects.toMatchObject({ code: 'invalid_input' });
      await store.tx('mail', async (db) => {
        await ensureAgent(db, project, 'Lead');
        await ensureAgent(db, project, 'Lead');
      });
      expect((await named('Lead')).name).toBe('Lead-2');
    });
  });

  describe('a message', () => {
    it('is what was sent, in the order it was sent', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl', 'Hare');
      const first = await send(store, {
        to: ['Owl', 'Hare', 'Owl'],
        topic: 'epic-1',
        importance: 'high',
        ackRequired: true,
      });
      await send(store, { subject: 'Second', threadId: 'T1' });
      expect(first).toMatchObject({
        thread_id: first.id,
        topic: 'epic-1',
        sender_name: 'Fox',
        to: ['Owl', 'Hare'],
        subject: 'Hello',
        body_md: 'text',
        importance: 'high',
        ack_required: true,
        reply_to: null,
        acks: [],
      });
      expect(await subjects(list(store))).toEqual(['Hello', 'Second']);
      expect(await subjects(list(store, { agent: 'Hare' }))).toEqual(['Hello']);
      expect(await subjects(list(store, { topic: 'epic-1' }))).toEqual(['Hello']);
      expect(await subjects(list(store, { threadId: 'T1' }))).toEqual(['Second']);
      expect(await subjects(list(store, { limit: 1 }))).toEqual(['Second']);
      expect(await list(store, { project: 'other' })).toEqual([]);
    });

    it('to somebody unknown reaches nobody', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl');
      await expect(send(store, { to: ['Owl', 'Nobody'] })).rejects.toMatchObject({
        code: 'not_found',
        data: { unknown: ['Nobody'] },
      });
      await expect(send(store, { from: 'Stranger' })).rejects.toMatchObject({ code: 'not_found' });
      await expect(send(store, { project: 'other' })).rejects.toMatchObject({ code: 'not_found' });
      expect(await list(store)).toEqual([]);
    });

    it('has bounds, and no secrets', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl');
      await expect(send(store, { body: 'x'.repeat(65_537) })).rejects.toMatchObject({ code: 'too_large' });
      await expect(send(store, { subject: ' ' })).rejects.toMatchObject({ code: 'invalid_input' });
      await expect(send(store, { to: [] })).rejects.toMatchObject({ code: 'invalid_input' });
      await expect(send(store, { body: 'a\0b' })).rejects.toMatchObject({ code: 'invalid_input' });
      const secret = `ghp_${'a1B2'.repeat(9)}`;
      const sent = await send(store, { body: `token ${secret}`, subject: secret, topic: secret });
      expect(JSON.stringify(sent)).not.toContain(secret);
      expect(await list(store, { words: secret })).toEqual([]);
    });

    it('is answered to its sender, in its thread and topic', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl');
      const asked = await send(store, { topic: 'epic-1', threadId: 'T1' });
      const reply = (messageId: string) =>
        store.tx('mail', (db) => replyMessage(db, { messageId, from: 'Owl', body: 'yes', ids }));
      const answer = await reply(asked.id);
      expect(answer).toMatchObject({
        subject: 'Re: Hello',
        to: ['Fox'],
        thread_id: 'T1',
        topic: 'epic-1',
        reply_to: asked.id,
      });
      expect((await reply(answer.id)).subject).toBe('Re: Hello');
      await expect(reply('msg_none')).rejects.toMatchObject({ code: 'not_found' });
    });

    it('is acknowledged by who got it, once', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl', 'Hare');
      const { id } = await send(store, { to: ['Owl', 'Hare'] });
      const ack = (agent: string) => store.tx('mail', (db) => acknowledgeMessage(db, id, agent));
      const first = await ack('Owl');
      const again = await ack('Owl');
      expect(again.acks).toEqual(first.acks);
      expect(first.acks).toMatchObject([{ agent_name: 'Owl' }]);
      expect(inboxMessage(first, 'Owl')).toEqual({ ...viewMessage(first), acked_at: first.acks[0]!.at });
      expect(inboxMessage(first, 'Hare').acked_at).toBeNull();
      await expect(ack('Fox')).rejects.toMatchObject({ code: 'invalid_input' });
      expect((await ack('Hare')).acks.map(({ agent_name }) => agent_name)).toEqual(['Owl', 'Hare']);
    });
  });

  describe('searching', () => {
    it('finds all words, without case and accents', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl');
      await send(store, { subject: 'Crème brûlée', body: 'Straße 12' });
      await send(store, { subject: 'Other', body: 'creme only' });
      const found = (words: string) => subjects(list(store, { words }));
      expect(await found('CREME')).toEqual(['Crème brûlée', 'Other']);
      expect(await found('brulee STRASSE')).toEqual(['Crème brûlée']);
      expect(await found('brûlée 12')).toEqual(['Crème brûlée']);
      expect(await found('brul')).toEqual([]);
    });

    it.each([`"`, `' OR 1=1`, 'NEAR(a b)', 'a* AND NOT b', '-a', 'a:*', '!', 'subject:x', '( & | !', '\\'])(
      'takes %s as words, never as syntax',
      async (words) => {
        const store = await open();
        await register(store, 'Fox', 'Owl');
        await send(store, { body: 'nothing of the kind' });
        expect(await list(store, { words })).toEqual([]);
        await send(store, { subject: 'Quoted', body: `before ${words} after` });
        const isWords = foldWords(words).length > 0;
        expect(await subjects(list(store, { words }))).toEqual(isWords ? ['Quoted'] : []);
      },
    );
  });

  describe('an inbox', () => {
    it('gives what was not fetched before, oldest first, until nothing is left', async () => {
      const store = await open();
      await register(store, 'Fox', 'Owl');
      for (const subject of ['1', '2', '3', '4', '5']) await send(store, { subject, topic: 'epic-1' });
      await send(store, { subject: 'elsewhere' });
      const fetch = (limit: number) =>
        store.tx('mail', (db) => fetchInbox(db, { project, agent: 'Owl', topic: 'epic-1', limit }));
      expect(await subjects(fetch(2))).toEqual(['1', '2']);
      expect(await subjects(fetch(2))).toEqual(['3', '4']);
      expect(await subjects(fetch(2))).toEqual(['4', '5']);
      expect(await subjects(fetch(10))).toEqual(['1', '2', '3', '4', '5']);
      const all = await store.tx('mail', (db) => fetchInbox(db, { project, agent: 'Owl' }));
      expect(all.map(({ subject, acked_at }) => [subject, acked_at]).at(-1)).toEqual(['elsewhere', null]);
    });
  });
});
