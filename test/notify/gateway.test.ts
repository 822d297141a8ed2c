/** Discord's gateway as it is on bad days. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import type { ChatActions } from '../../src/notify/inbound/answer.ts';
import { discordReader } from '../../src/notify/inbound/discord-reader.ts';
import { readChannel } from '../../src/notify/inbound/reader.ts';
import { reconnectMs } from '../../src/notify/inbound/socket.ts';
import { notifyTables } from '../../src/notify/tables.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { type DiscordStandIn, openDiscord } from './discord-bot.ts';

const waitFor = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 20_000 });

interface Reading {
  discord: DiscordStandIn;
  said: string[];
  stop(): Promise<void>;
}

async function read(
  prepare: (discord: DiscordStandIn) => void = () => undefined,
  status: () => Promise<string> = async () => 'All is well.',
  more: object = {},
): Promise<Reading> {
  const discord = await openDiscord();
  onTestFinished(() => discord[Symbol.asyncDispose]());
  prepare(discord);
  const folder = mkdtempSync(join(tmpdir(), 'pulse-gateway-'));
  const store = await openSqlite({ path: join(folder, 'pulse.db'), modules: [notifyTables] });
  const said: string[] = [];
  const ending = new AbortController();
  const means = {
    ...{ store, environment: { DISCORD: 'discord-secret' }, owner: 'here', isGone: () => false },
    notify: notifySchema.parse({
      discord: { tokenEnv: 'DISCORD', apiUrl: discord.url, allow: ['81'], ...more },
    }),
    actions: { status } as Partial<ChatActions> as ChatActions,
    say: (text: string) => void said.push(text),
  };
  const reading = readChannel(means, discordReader, { signal: ending.signal });
  const stop = async (): Promise<void> => {
    ending.abort();
    await reading;
  };
  onTestFinished(async () => {
    await stop();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { discord, said, stop };
}

const plain = async () => 'All is well.';
const STATUS = { name: 'pulse', options: [{ name: 'status' }] };
const ask = (discord: DiscordStandIn) => discord.interact({ from: '81', type: 2, data: STATUS });
const answered = (discord: DiscordStandIn, id: string) => waitFor(() => discord.replies.has(id));

describe('the gateway', () => {
  it('is resumed after a break, and nothing that was told meanwhile is missed', async () => {
    const { discord } = await read();
    await waitFor(() => discord.isConnected);
    discord.toAll({ op: 7, d: null });
    await waitFor(() => !discord.isConnected);
    const missed = ask(discord);
    await answered(discord, missed);
    expect(discord.begun).toEqual([2, 6]);
    discord.toAll({ op: 9, d: false });
    await waitFor(() => discord.begun.length === 3);
    expect(discord.begun).toEqual([2, 6, 2]);
    await answered(discord, ask(discord));
  });

  it('is left when nobody says hello, and tried again', async () => {
    const { discord } = await read((one) => {
      one.greeting = () => {
        one.greeting = null;
      };
    });
    await vi.waitUntil(() => discord.isConnected, { timeout: 40_000 });
    await answered(discord, ask(discord));
  });

  it('is left when nobody acknowledges that we live', async () => {
    const { discord } = await read((one) => {
      one.heartbeatMs = 1_000;
      one.acks = false;
    });
    await waitFor(() => discord.begun.length === 2);
    expect(discord.begun).toEqual([2, 6]);
    expect(discord.beats).toBeGreaterThan(0);
  });

  it('may talk nonsense', async () => {
    const { discord } = await read((one) => {
      one.greeting = (peer) => {
        for (const text of ['', '{', 'null', '[]', '7', '{"op":"x"}', `{"op":0,"t":5,"d":{}}`])
          peer.sendText(text);
        peer.send({ op: 10, d: { heartbeat_interval: 1 } });
        peer.send({ op: 10, d: null });
        peer.send({ op: 0, t: 'INTERACTION_CREATE', s: 'x', d: { id: 5 } });
        peer.send({ op: 0, t: 'READY', s: 1, d: null });
        peer.sendText(`{"op":0,"t":"MESSAGE_CREATE","s":2,"d":"${'x'.repeat(2_000_000)}"}`);
      };
    });
    await waitFor(() => discord.isConnected);
    await delay(200);
    // It was asked for a beat every millisecond.
    expect(discord.beats).toBeLessThan(3);
    await answered(discord, ask(discord));
  });

  it('is not stormed when it closes at once, always', async () => {
    let opened = 0;
    const { said } = await read((one) => {
      one.greeting = (peer) => {
        opened += 1;
        peer.close(1000);
      };
    });
    await waitFor(() => opened > 0);
    await delay(3_000);
    expect(opened).toBeLessThanOrEqual(4);
    expect(said).toEqual([]);
  });

  it('is tried less and less often, up to two minutes', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const ms = reconnectMs(failures, () => random);
        expect(ms).toBeGreaterThanOrEqual(500);
        expect(ms).toBeLessThanOrEqual(120_000);
        expect(reconnectMs(failures + 1, () => random)).toBeGreaterThanOrEqual(ms);
      }),
    );
  });

  it('is asked for the content of messages only where threads want it, and does without where it may not', async () => {
    const { discord, said } = await read(() => undefined, plain, { threads: true });
    await waitFor(() => discord.isConnected);
    expect(discord.begun).toEqual([2, 2]);
    expect(said).toEqual([expect.stringContaining('Message Content Intent is not switched on')]);
    await answered(discord, ask(discord));
    const other = await read((one) => Object.assign(one, { mayReadContent: true }), plain, {
      threads: true,
    });
    await waitFor(() => other.discord.isConnected);
    expect([other.discord.begun, other.said]).toEqual([[2], []]);
  });

  it('brings nothing of what people say to each other in a server', async () => {
    const { discord } = await read();
    await waitFor(() => discord.isConnected);
    const say = (content: string, more: object = {}) =>
      discord.post({ from: '81', channel: '9', server: '1', content, ...more });
    say('Lunch?');
    say('Lunch, I said.', { repliesTo: '1', mentions: false });
    // To the bot itself.
    discord.post({ from: '81', channel: '8', content: 'Port 1.' });
    await waitFor(() => discord.sent.length > 0);
    expect(discord.sent.map(({ channel_id: at }) => at)).toEqual(['8']);
  });

  it('is left alone when the token is wrong, which is said without the token', async () => {
    const { discord, said } = await read((one) => {
      one.token = 'another';
    });
    await waitFor(() => said.length > 0);
    await delay(1_500);
    expect(said).toEqual(['discord: the token is not valid']);
    expect(discord.begun).toEqual([]);
  });

  it('hears within three seconds that an answer takes longer', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { discord } = await read(
      () => undefined,
      () => promise,
    );
    await waitFor(() => discord.isConnected);
    const beganMs = Date.now();
    const id = ask(discord);
    await answered(discord, id);
    expect(Date.now() - beganMs).toBeLessThan(3_000);
    expect(discord.replies.get(id)).toMatchObject([{ type: 5, data: { flags: 64 } }]);
    resolve('All was slow.');
    await waitFor(() => discord.replies.get(id)!.length === 2);
    expect(discord.replies.get(id)![1]).toMatchObject({ data: { content: 'All was slow.' } });
  });

  it('ends at once when it is asked to', async () => {
    const { discord, stop } = await read();
    await waitFor(() => discord.isConnected);
    const beganMs = Date.now();
    await stop();
    expect(Date.now() - beganMs).toBeLessThan(1_500);
  });
});
