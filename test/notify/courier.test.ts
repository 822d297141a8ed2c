/** What services, clocks and slow programs do to the courier. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { MOST_SENDING_MS } from '../../src/notify/channels/channel.ts';
import { createCommandSender } from '../../src/notify/channels/command.ts';
import { holdCourier } from '../../src/notify/courier.ts';
import { takeAccount } from '../../src/notify/outbox.ts';
import { createPrograms } from '../../src/notify/run-command.ts';
import { notifyTables } from '../../src/notify/tables.ts';
import { openProcessTable } from '../../src/process/process-table.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { courier, deliver, hurry, routed, rows, say, service } from './outbox-scene.ts';
import type { Service } from './stand-in.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const webhookTo = ({ url }: Service) => ({ webhooks: [{ url, secretEnv: 'SECRET' }] });
const SECRET = { SECRET: 'sssh-be-quiet' };

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'pulse-notify-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

onBothStores((open) => {
  describe('a message', () => {
    it('waits as long as the service asks, but a day at most', async () => {
      const store = await open();
      const hook = await service();
      await say(store, await routed(store, webhookTo(hook)), 'one');
      const inAnHour = new Date(Date.now() + 60 * 60 * 1000).toUTCString();
      for (const [asked, most] of [
        ['1e300', DAY_MS],
        ['99999999999', DAY_MS],
        [inAnHour, 60 * 60 * 1000],
        ['soon', 24_000],
      ] as const) {
        hook.replies.push({ status: 429, headers: { 'retry-after': asked } });
        expect(await deliver(courier(store, SECRET))).toBe(0);
        const { run_at: next } = (await rows(store))[0]!;
        expect(Date.parse(next) - Date.now()).toBeLessThanOrEqual(most + 1_000);
        expect(Date.parse(next) - Date.now()).toBeGreaterThan(most - 20_000);
        await hurry(store);
      }
    });

    it('that was taken is not sent again, however strange the answer is', async () => {
      const store = await open();
      const [ntfy, hook] = [await service({ id: `\0\ud800${'x'.repeat(60_000)}` }), await service()];
      hook.replies.push('break off');
      await say(store, await routed(store, { ntfy: { url: ntfy.url }, ...webhookTo(hook) }), 'one');
      expect(await deliver(courier(store, SECRET))).toBe(2);
      expect(await deliver(courier(store, SECRET))).toBe(0);
      expect([ntfy.got.length, hook.got.length]).toEqual([1, 1]);
    });

    it('that is on its way when the process ends is waited for, and not sent twice', async () => {
      const store = await open();
      const hook = await service();
      const { promise, resolve } = Promise.withResolvers<void>();
      hook.replies.push({ status: 200, when: promise });
      const id = await routed(store, webhookTo(hook));
      await say(store, id, 'one');
      const holder = holdCourier();
      holder.start(courier(store, SECRET));
      await vi.waitFor(() => expect(hook.got).toHaveLength(1));
      await say(store, id, 'the last');
      const closed = holder[Symbol.asyncDispose]();
      resolve();
      await closed;
      expect(hook.got).toHaveLength(2);
      expect(await rows(store)).toMatchObject([{ status: 'sent' }, { status: 'sent' }]);
    });

    it('does not wait for an account that is slow', async () => {
      const store = await open();
      const [slow, fast] = [await service(), await service()];
      const { promise, resolve } = Promise.withResolvers<void>();
      slow.replies.push({ status: 200, when: promise });
      const [first, second] = [await routed(store, webhookTo(slow)), await routed(store, webhookTo(fast))];
      await say(store, first, 'one');
      const holder = holdCourier();
      holder.start(courier(store, SECRET));
      await vi.waitFor(() => expect(slow.got).toHaveLength(1));
      await say(store, second, 'two');
      holder.ring();
      await vi.waitFor(() => expect(fast.got).toHaveLength(1), 5_000);
      resolve();
      await holder[Symbol.asyncDispose]();
      expect(slow.got).toHaveLength(1);
    });
  });
});

describe('the clock', () => {
  it('may jump back: what waits is not put off with it', async () => {
    let aheadMs = DAY_MS * 30;
    const store = await openSqlite({
      path: join(folder(), 'pulse.db'),
      modules: [notifyTables],
      nowMs: () => Date.now() + aheadMs,
    });
    onTestFinished(() => store.close());
    const [first, second] = [await service(), await service()];
    first.replies.push({ status: 500 });
    await say(store, await routed(store, webhookTo(first)), 'one');
    expect(await deliver(courier(store, SECRET))).toBe(0);
    await say(store, await routed(store, webhookTo(second)), 'two');
    aheadMs = 0;
    expect(await deliver(courier(store, SECRET))).toBe(2);
  });

  it('lets no second process send what a slow command is sending', async () => {
    let aheadMs = 0;
    const store = await openSqlite({
      path: join(folder(), 'pulse.db'),
      modules: [notifyTables],
      nowMs: () => Date.now() + aheadMs,
    });
    onTestFinished(() => store.close());
    await say(store, await routed(store, { command: 'tell' }), 'one');
    const { account_id: account } = (await rows(store))[0]!;
    const take = (owner: string) =>
      store.tx('take', (db) => takeAccount(db, account, { owner, isGone: () => false }));
    expect(await take('first')).toBe(1);
    aheadMs = MOST_SENDING_MS;
    expect(await take('second')).toBeNull();
  });
});

describe('the command', () => {
  it('reads one line of JSON, which names an iteration where there is one', async () => {
    const lines: string[] = [];
    const sender = createCommandSender(async (_, { input }) => {
      lines.push(input);
      return { code: 0, output: '' };
    });
    const means = { settings: { command: 'tell' }, secret: () => '', signal: new AbortController().signal };
    for (const iteration of [3, null]) {
      const about = { type: 'iteration.settled', sessionId: 's', iteration };
      const sending = {
        text: 'Two\nlines',
        weight: 'news' as const,
        key: 's.7',
        destination: 'command',
        about,
      };
      await sender.send(sending, means);
    }
    const [one, other] = lines.map((line) => JSON.parse(line));
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
    const told = { id: 's.7', type: 'iteration.settled', sessionId: 's', weight: 'news', text: 'Two\nlines' };
    expect([one, other]).toEqual([{ ...told, iteration: 3 }, told]);
    expect(other).not.toHaveProperty('iteration');
  });

  it('runs in the home folder, reads as much as it likes, and ends nobody else there', async () => {
    const home = folder();
    const { runCommand: run } = createPrograms({ PATH: process.env.PATH, HOME: home, SECRET: 'no' });
    const { signal } = new AbortController();
    const command = 'pwd; echo "[$SECRET]"; touch begun; until [ -e over ]; do sleep 0.05; done';
    const running = run(command, { input: 'x'.repeat(1_000_000), signal });
    await vi.waitFor(() => expect(() => rmSync(join(home, 'begun'))).not.toThrow());
    // As a person's desktop or service manager starts something: no terminal, and no parent of its own.
    const starter = spawn('sh', ['-c', 'setsid sleep 60 >/dev/null 2>&1 & echo $!'], { cwd: home, env: {} });
    const [printed] = await Promise.all([text(starter.stdout), once(starter, 'exit')]);
    const pid = Number(printed);
    onTestFinished(() => void process.kill(pid));
    writeFileSync(join(home, 'over'), '');
    expect(await running).toEqual({ code: 0, output: `${home}\n[]\n` });
    expect(openProcessTable().stat(pid)).toMatchObject({ isZombie: false });
  });
});

describe('the config', () => {
  it('holds no password in an address', () => {
    const url = (text: string) => notifySchema.safeParse({ ntfy: { url: text } }).success;
    expect(url('https://me:secret@ntfy.sh/x')).toBe(false);
    expect(url('https://token@ntfy.sh/x')).toBe(false);
    expect(url('https://ntfy.sh/@x')).toBe(true);
  });
});
