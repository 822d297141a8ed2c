/** The digest of a night has the buttons of those that need a person, each for its own session. */
import { expect, it, onTestFinished } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { answerMessage } from '../../src/notify/inbound/answer.ts';
import { appendEvents } from '../../src/store/events.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { openDiscord } from './discord-bot.ts';
import { openClocked } from './fixed-clock.ts';
import { courier, deliver, routed, rows } from './outbox-scene.ts';
import { ask, noting } from './reading-scene.ts';
import { openTelegram } from './telegram-bot.ts';

onBothStores((_, place) => {
  it('each answers its own session', async () => {
    await using clocked = await openClocked(await place(), '2026-05-04T03:00:00Z');
    const { store, setClock } = clocked;
    const [telegram, discord] = [await openTelegram(), await openDiscord()];
    onTestFinished(async () => {
      await telegram[Symbol.asyncDispose]();
      await discord[Symbol.asyncDispose]();
    });
    const notify = notifySchema.parse({
      telegram: { tokenEnv: 'TOKEN', apiUrl: telegram.url, allow: ['42'], chat: '42' },
      discord: { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], channel: '9' },
      ...{ quiet: '22:00-07:00', timezone: 'UTC' },
    });
    const asked: string[] = [];
    for (let n = 0; n < 7; n++) {
      asked.push(await routed(store, notify));
      await ask(store, asked.at(-1)!, `Question ${n}?`);
    }
    const done = await routed(store, notify);
    await store.tx('end', (db) => appendEvents(db, done, [{ type: 'session.ended' }]));
    const means = courier(store, { TOKEN: '1:abc', DISCORD: discord.token });
    await deliver(means);
    await setClock('2026-05-04T07:00:00Z');
    expect(await deliver(means)).toBe(2);
    const digest = telegram.sent.at(-1)!;
    expect(digest.text).toContain('🌅 Digest: 7 need you');
    const tag = (id: string) => `#${id.slice(-4)}`;
    const labels = asked.slice(0, 5).flatMap((id) => [`Answer ${tag(id)}`, `Abort ${tag(id)}`]);
    expect(digest.buttons.map(({ text }) => text)).toEqual(labels);
    const shown = discord.sent.at(-1)!;
    expect(shown.components.map((row) => row.components.length)).toEqual([2, 2, 2, 2, 2]);
    const { account_id: accountId } = (await rows(store)).find(({ destination }) => destination === '42')!;
    const { actions, did } = noting(store);
    const button = digest.buttons.find(({ text }) => text === `Answer ${tag(asked[3]!)}`)!;
    const reply = await answerMessage(
      { store, actions },
      {
        ...{ channel: 'telegram', id: '1', accountId, allow: ['42'], sender: '42', chat: '42' },
        ...{ repliesTo: null, command: { do: 'press', action: button.callback_data, text: 'Port 4.' } },
      },
    );
    expect([reply?.text, did]).toEqual(['Done.', ['telegram:42 answer Port 4.']]);
  });
});
