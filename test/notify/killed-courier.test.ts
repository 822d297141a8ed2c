/** kill -9 between sending and recording, on every channel and both stores. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { onBothStores, type Place } from '../coordination/both-stores.ts';
import { routed, rows, say, service } from './outbox-scene.ts';
import { TAKERS } from './takers.ts';

const SECRETS = { TOKEN: '1:abc', SECRET: 'sssh-be-quiet', PATH: process.env.PATH! };
const waitFor = (condition: () => boolean | Promise<boolean>) => vi.waitUntil(condition, { timeout: 30_000 });

function startCourier(
  place: Place & { stopsAt?: number },
  home: string,
  more: Record<string, string> = {},
): ChildProcess {
  const program = join(import.meta.dirname, 'fixtures/courier.ts');
  const env = { ...SECRETS, HOME: home, ...more };
  const child = spawn(process.execPath, [program, JSON.stringify(place)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** How each channel is set up, what its service answers, and what it may show twice. */
const CHANNELS: Record<
  string,
  { answer: unknown; mayDouble: boolean; notify(url: string, home: string): object }
> = {
  telegram: {
    ...{ answer: { ok: true, result: { message_id: 7 } }, mayDouble: true },
    notify: (apiUrl) => ({ telegram: { tokenEnv: 'TOKEN', apiUrl, allow: [], chat: '42' } }),
  },
  sms: {
    ...{ answer: { sid: 'SM1' }, mayDouble: true },
    notify: (apiUrl) => ({
      sms: { accountSid: 'AC1', authTokenEnv: 'TOKEN', from: '+1', apiUrl, allow: [], to: '+42' },
    }),
  },
  discord: {
    ...{ answer: { id: '1' }, mayDouble: false },
    notify: (apiUrl) => ({ discord: { tokenEnv: 'TOKEN', apiUrl, allow: [], channel: '9' } }),
  },
  slack: {
    ...{ answer: { ok: true, ts: '1.1' }, mayDouble: true },
    notify: (apiUrl) => ({
      slack: { appTokenEnv: 'TOKEN', botTokenEnv: 'TOKEN', apiUrl, allow: [], channel: 'C9' },
    }),
  },
  webhook: {
    ...{ answer: {}, mayDouble: false },
    notify: (url) => ({ webhooks: [{ url, secretEnv: 'SECRET' }] }),
  },
  ntfy: { answer: { id: 'x' }, mayDouble: true, notify: (url) => ({ ntfy: { url } }) },
};

onBothStores((open, place) => {
  describe('a process that is killed after the service has taken a message', () => {
    it.each(Object.keys(CHANNELS))(
      'loses nothing on %s, keeps the order, and doubles that one at most',
      async (name) => {
        const { answer, mayDouble, notify } = CHANNELS[name]!;
        const store = await open();
        const home = mkdtempSync(join(tmpdir(), 'pulse-killed-'));
        onTestFinished(() => rmSync(home, { recursive: true, force: true }));
        const taker = await service(answer);
        const never = Promise.withResolvers<void>();
        onTestFinished(() => never.resolve());
        // The first message gets through; the second is taken, and its answer never comes.
        taker.replies.push({ status: 200, body: answer }, { status: 200, body: answer, when: never.promise });
        const id = await routed(store, notifySchema.parse(notify(taker.url, home)));
        await say(store, id, 'one', 'two', 'three');
        const first = startCourier(await place(), home);
        await waitFor(() => taker.got.length === 2);
        first.kill('SIGKILL');
        await once(first, 'exit');
        const second = startCourier(await place(), home);
        await waitFor(async () => (await rows(store)).every(({ status }) => status === 'sent'));
        second.kill('SIGKILL');
        await once(second, 'exit');
        const said = taker.got.map(({ body }) => /(one|two|three)/.exec(decodeURIComponent(body))?.[1]);
        expect(said).toEqual(['one', 'two', 'two', 'three']);
        if (!mayDouble) expect(keyOf(name, taker.got[1]!)).toBe(keyOf(name, taker.got[2]!));
      },
    );

    it.each(Object.keys(TAKERS))(
      'and has not noted its answer loses nothing on %s, and shows that one again only where nobody can tell',
      async (name) => {
        const store = await open();
        const home = mkdtempSync(join(tmpdir(), 'pulse-killed-'));
        onTestFinished(() => rmSync(home, { recursive: true, force: true }));
        const { notify, environment, shown } = await TAKERS[name]!();
        await say(store, await routed(store, notifySchema.parse(notify)), 'one', 'two', 'three');
        const first = startCourier({ ...(await place()), stopsAt: 2 }, home, environment);
        let printed = '';
        first.stdout!.on('data', (part) => (printed += part));
        await waitFor(() => printed.includes('answered'));
        first.kill('SIGKILL');
        await once(first, 'exit');
        expect((await rows(store)).map(({ status }) => status)).toEqual(['sent', 'waiting', 'waiting']);
        const second = startCourier(await place(), home, environment);
        await waitFor(async () => (await rows(store)).every(({ status }) => status === 'sent'));
        second.kill('SIGKILL');
        await once(second, 'exit');
        const said = shown().map((text) => /(one|two|three)/.exec(text)?.[1]);
        const isKnown = name === 'discord';
        expect(said).toEqual(['one', 'two', ...(isKnown ? [] : ['two']), 'three']);
        // Of the one that was shown, the name is known: it can be answered and changed.
        const ids = (await rows(store)).map(({ provider_id: id }) => id);
        expect(new Set(ids).size).toBe(3);
        expect(ids).not.toContain(null);
      },
    );

    it('runs a command of the person again', async () => {
      const store = await open();
      const home = mkdtempSync(join(tmpdir(), 'pulse-killed-'));
      onTestFinished(() => rmSync(home, { recursive: true, force: true }));
      const command = 'cat >> told; [ -e again ] || { touch again; sleep 5; }';
      await say(store, await routed(store, { command }), 'one', 'two');
      const first = startCourier(await place(), home);
      const told = (): string[] => {
        if (!existsSync(join(home, 'told'))) return [];
        return [...readFileSync(join(home, 'told'), 'utf8').matchAll(/Blocked: (\w+)/g)].map(
          ([, words]) => words!,
        );
      };
      await waitFor(() => told().length === 1);
      first.kill('SIGKILL');
      await once(first, 'exit');
      const second = startCourier(await place(), home);
      await waitFor(async () => (await rows(store)).every(({ status }) => status === 'sent'));
      expect(told()).toEqual(['one', 'one', 'two']);
      second.kill('SIGKILL');
      await once(second, 'exit');
    });
  });
});

function keyOf(name: string, { headers, body }: { headers: Record<string, unknown>; body: string }): unknown {
  if (name === 'webhook') return headers['webhook-id'];
  const { nonce, enforce_nonce: isOnce } = JSON.parse(body);
  return isOnce ? nonce : Symbol('no nonce');
}
