import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Sending } from '../../src/notify/channels/channel.ts';
import { createDesktopSender } from '../../src/notify/channels/desktop.ts';
import { holdCourier } from '../../src/notify/courier.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { courier, deliver, routed, rows, say } from './outbox-scene.ts';

const sending: Sending = {
  ...{ text: '--help <b>"$(rm -rf /)" & so on', weight: 'needs', key: 'k', destination: 'here' },
  about: { type: 'session.blocked', sessionId: 's', iteration: null },
};

async function show(platform: NodeJS.Platform, code = 0) {
  const calls: string[][] = [];
  const sender = createDesktopSender(async (file, args) => {
    calls.push([file, ...args]);
    if (code === 127) throw new Error('spawn notify-send ENOENT');
    return { code, output: 'No such bus' };
  }, platform);
  const { signal } = new AbortController();
  return { calls, outcome: await sender.send(sending, { settings: {}, secret: () => '', signal }), sender };
}

describe('the desktop', () => {
  it('gets the words as one argument, which is no option, no command and no markup', async () => {
    const linux = await show('linux');
    expect(linux.calls[0]!.slice(-3)).toEqual(['--', 'Pulse', '--help &lt;b&gt;"$(rm -rf /)" &amp; so on']);
    const mac = await show('darwin');
    expect([mac.calls[0]![0], mac.calls[0]!.at(-1)]).toEqual(['osascript', sending.text]);
    expect(mac.calls[0]!.slice(0, -1).join(' ')).not.toContain('rm -rf');
  });

  it('is not asked again where it cannot show anything, and never told of steps', async () => {
    expect((await show('linux', 1)).outcome).toMatchObject({
      kind: 'refused',
      error: expect.stringContaining('No such bus'),
    });
    expect((await show('linux', 127)).outcome).toMatchObject({ kind: 'refused' });
    const { sender } = await show('linux');
    expect(sender.skips?.({ text: '', weight: 'news' }, {})).toBe(true);
  });
});

onBothStores((open) => {
  it('is told by a process that has one, and by no other, which would think that nobody could', async () => {
    const store = await open();
    await say(store, await routed(store, { desktop: true }), 'one');
    expect(await deliver(courier(store, {}))).toBe(0);
    expect(await rows(store)).toMatchObject([{ status: 'waiting', attempts: 0 }]);
    expect(await deliver(courier(store, { DISPLAY: ':0' }))).toBe(1);
  });

  it('of another machine is left to that one', async () => {
    const store = await open();
    await say(store, await routed(store, { desktop: true }), 'one');
    await store.tx('elsewhere', (db) =>
      withNotifyTables(db)
        .updateTable('notify_accounts')
        .set({ settings: JSON.stringify({ host: `not-${hostname()}` }) })
        .execute(),
    );
    expect(await deliver(courier(store, { DISPLAY: ':0' }))).toBe(0);
    expect(await rows(store)).toMatchObject([{ status: 'waiting' }]);
  });

  it('that nobody has is dropped when it is no news any longer, and that is said', async () => {
    const store = await open();
    await say(store, await routed(store, { desktop: true }), 'one', 'two');
    const { number } = (await rows(store))[0]!;
    await store.tx('age', (db) =>
      withNotifyTables(db)
        .updateTable('notifications')
        .set({ created_at: new Date(Date.now() - 11 * 60_000).toISOString() })
        .where('number', '=', number)
        .execute(),
    );
    await using holder = holdCourier();
    holder.start(courier(store, {}));
    await expect
      .poll(async () => (await rows(store)).map(({ status }) => status), { timeout: 10_000 })
      .toEqual(['failed', 'waiting']);
    expect((await rows(store))[0]!.error).toContain('no process was there that could show it');
  });
});
