/** Quiet hours, the digest and roll-ups, by a clock that the test sets. */
import fc from 'fast-check';
import type { UpdateObject } from 'kysely';
import { describe, expect, it } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { minuteOfDay, nextTimeOfDay } from '../../src/notify/quiet/local-time.ts';
import { isQuiet, type Manner, mannerOf, placeOf, ROLLUP_MS } from '../../src/notify/quiet/manner.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { appendEvents } from '../../src/store/events.ts';
import type { Schema } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { openClocked } from './fixed-clock.ts';
import { courier, deliver, routed, rows, say, service } from './outbox-scene.ts';
import type { Service } from './stand-in.ts';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];
const HOUR_MS = 3_600_000;
const instant = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2030, 0, 1) });
const minute = fc.integer({ min: 0, max: 24 * 60 - 1 });
const timeText = minute.map(
  (m) => `${String(Math.floor(m / 60)).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`,
);
const manner: fc.Arbitrary<Manner> = fc
  .record({ from: timeText, to: timeText, digest: fc.option(timeText), zone: fc.constantFrom(...ZONES) })
  .filter(({ from, to }) => from !== to)
  .map(({ from, to, digest, zone }) => ({
    ...{ quiet: `${from}-${to}`, zone },
    ...(digest ? { digest } : {}),
  }));

describe('a time of the day', () => {
  it('is the next one there, within a day and an hour', () => {
    fc.assert(
      fc.property(instant, minute, fc.constantFrom(...ZONES), (from, asked, zone) => {
        const at = nextTimeOfDay(from, asked, zone);
        expect(at).toBeGreaterThan(from);
        expect(at - from).toBeLessThanOrEqual(25 * HOUR_MS);
        // Where the clock was set forward over it, it is as late as it would have been.
        const off = (minuteOfDay(at, zone) - asked + 1440) % 1440;
        expect(Math.min(off, 1440 - off)).toBeLessThanOrEqual(60);
      }),
    );
  });

  it('is found over the nights in which the clock is set', () => {
    const at = (from: string, zone = 'Europe/Berlin') =>
      new Date(nextTimeOfDay(Date.parse(from), 7 * 60, zone)).toISOString();
    expect(at('2026-03-28T21:00:00Z')).toBe('2026-03-29T05:00:00.000Z');
    expect(at('2026-10-24T21:00:00Z')).toBe('2026-10-25T06:00:00.000Z');
    expect(at('2026-06-01T05:00:00Z')).toBe('2026-06-02T05:00:00.000Z');
  });
});

describe('where a message belongs', () => {
  const occasion = { isStep: true, stepsToldMs: [] };

  it('lets what needs a person through, always', () => {
    fc.assert(
      fc.property(instant, manner, (nowMs, how) => {
        expect(placeOf({ ...occasion, nowMs, manner: how, weight: 'needs' })).toEqual({ kind: 'now' });
      }),
    );
  });

  it('keeps the rest back in quiet hours alone, for a digest that is never in them', () => {
    fc.assert(
      fc.property(instant, manner, fc.constantFrom('end', 'news'), (nowMs, how, weight) => {
        const place = placeOf({ ...occasion, nowMs, manner: how, weight: weight as 'end' });
        expect(place.kind).toBe(isQuiet(nowMs, how) ? 'digest' : 'now');
        if (place.kind === 'now') return;
        expect(place.atMs).toBeGreaterThan(nowMs);
        expect(place.atMs - nowMs).toBeLessThanOrEqual(50 * HOUR_MS);
        // A digest that was asked for at a quiet time comes then.
        if (how.digest === undefined) expect(isQuiet(place.atMs, how)).toBe(false);
      }),
    );
  });

  it('rolls up the sixth step of ten minutes, and no other message', () => {
    const how = { rollup: true, zone: 'UTC' };
    fc.assert(
      fc.property(
        instant,
        fc.array(fc.integer({ min: 0, max: ROLLUP_MS * 2 }), { maxLength: 9 }),
        (nowMs, ago) => {
          const stepsToldMs = ago.map((ms) => nowMs - ms);
          const lately = ago.filter((ms) => ms < ROLLUP_MS).length;
          const place = placeOf({ nowMs, manner: how, weight: 'news', isStep: true, stepsToldMs });
          expect(place.kind).toBe(lately >= 5 ? 'rollup' : 'now');
          if (place.kind === 'rollup') expect(place.atMs).toBeGreaterThan(nowMs);
          expect(placeOf({ nowMs, manner: how, weight: 'end', isStep: false, stepsToldMs }).kind).toBe('now');
        },
      ),
    );
  });

  it('is a setting that is checked', () => {
    const isGood = (notify: object) => notifySchema.safeParse(notify).success;
    expect(isGood({ quiet: '22:00-07:00', digest: '07:30', rollup: true, timezone: 'Europe/Berlin' })).toBe(
      true,
    );
    for (const bad of [
      { quiet: '22-7' },
      { quiet: '24:00-07:00' },
      { quiet: '07:00-07:00' },
      { digest: '7:30' },
    ])
      expect(isGood(bad)).toBe(false);
    expect(isGood({ timezone: 'Nowhere/Land' })).toBe(false);
    expect(mannerOf({})).toBeNull();
  });
});

const TOKEN = { TOKEN: '1:abc' };

onBothStores((_, place) => {
  const open = async (time: string) => openClocked(await place(), time);

  async function telegram(more: object) {
    const bot = await service({ ok: true, result: { message_id: 7 } });
    const notify = notifySchema.parse({
      telegram: { tokenEnv: 'TOKEN', apiUrl: bot.url, allow: [], chat: '42' },
      timezone: 'UTC',
      ...more,
    });
    return { bot, notify };
  }

  const texts = ({ got }: Service) => got.map(({ body }) => (JSON.parse(body) as { text: string }).text);
  const tell = (
    store: Store,
    id: string,
    type: 'session.ended' | 'session.failed' | 'iteration.settled',
    n = 1,
  ) =>
    store.tx('tell', (db) =>
      appendEvents(db, id, [{ type, iteration: n, data: { signal: 'CONTINUE', summary: `Step ${n}` } }]),
    );

  describe('quiet hours', () => {
    it('let a question through at three, and tell the rest once in the morning', async () => {
      await using clocked = await open('2026-05-04T03:00:00Z');
      const { store, setClock } = clocked;
      const { bot, notify } = await telegram({ quiet: '22:00-07:00', digest: '07:30' });
      const [done, asking, working] = [
        await routed(store, notify),
        await routed(store, notify),
        await routed(store, notify),
      ];
      const means = courier(store, TOKEN);
      await tell(store, working, 'iteration.settled', 1);
      await tell(store, working, 'iteration.settled', 2);
      await tell(store, done, 'session.ended');
      await say(store, asking, 'Which port?');
      await store.tx('stand', async (db) => {
        const stand = (id: string, values: UpdateObject<Schema, 'pulse_sessions'>) =>
          db.updateTable('pulse_sessions').set(values).where('id', '=', id).execute();
        const spent = { trust: 'unverified', spent_usd: 1.5, total_commits: 2 } as const;
        await stand(done, { status: 'complete', ...spent });
        await stand(asking, { status: 'blocked', blocked_reason: 'Which port?', spent_usd: 0.7 });
        await stand(working, { status: 'running', current_iteration: 2 });
      });
      expect(await deliver(means)).toBe(1);
      expect(texts(bot)).toEqual(['⏸️ Blocked: Which port?']);
      await setClock('2026-05-04T07:29:59Z');
      expect(await deliver(means)).toBe(0);
      await setClock('2026-05-04T07:30:00Z');
      expect(await deliver(means)).toBe(1);
      expect(await deliver(means)).toBe(0);
      expect(texts(bot)[1]!.split('\n')).toEqual([
        '🌅 Digest: 1 needs you, 1 done (1 UNVERIFIED), 1 at work; $2.20 spent',
        `⏸️ goal #${asking.slice(-4)}: Which port?`,
        `✅ goal #${done.slice(-4)} (unverified): 2 commits on pulse/goal-0001`,
        `📍 goal #${working.slice(-4)}, 2/10`,
      ]);
      await tell(store, working, 'iteration.settled', 3);
      expect(await deliver(means)).toBe(1);
    });

    it('send the digest again after a death before it was recorded, and lose nothing', async () => {
      await using clocked = await open('2026-05-04T23:00:00Z');
      const { store, setClock } = clocked;
      const { bot, notify } = await telegram({ quiet: '22:00-07:00' });
      const id = await routed(store, notify);
      await tell(store, id, 'session.ended');
      expect(await deliver(courier(store, TOKEN))).toBe(0);
      await setClock('2026-05-05T07:00:00Z');
      bot.replies.push({ status: 503 });
      expect(await deliver(courier(store, TOKEN))).toBe(0);
      await setClock('2026-05-05T07:00:10Z');
      // The first process is dead: the message was taken, and nobody has noted it.
      const second = { ...courier(store, TOKEN), owner: 'another', isGone: () => true };
      expect(await deliver(second)).toBe(1);
      expect(texts(bot)[0]).toBe(texts(bot)[1]);
      expect(texts(bot)).toHaveLength(2);
    });
  });

  describe('many steps in a short time', () => {
    it('become one message, which nothing overtakes', async () => {
      await using clocked = await open('2026-05-04T12:00:00Z');
      const { store, setClock } = clocked;
      const { bot, notify } = await telegram({ rollup: true });
      const id = await routed(store, notify);
      for (let n = 1; n <= 9; n++) await tell(store, id, 'iteration.settled', n);
      expect(await deliver(courier(store, TOKEN))).toBe(5);
      await setClock('2026-05-04T12:09:59Z');
      expect(await deliver(courier(store, TOKEN))).toBe(0);
      await setClock('2026-05-04T12:10:00Z');
      expect(await deliver(courier(store, TOKEN))).toBe(1);
      expect(texts(bot).at(-1)).toBe('📍 Iteration 9/10: Step 9. Continuing...\n(and 3 steps before)');
      for (let n = 10; n <= 17; n++) await tell(store, id, 'iteration.settled', n);
      await tell(store, id, 'session.ended');
      expect(await deliver(courier(store, TOKEN))).toBe(6);
      expect(texts(bot).slice(-2)).toEqual([
        expect.stringMatching(/^📍 Iteration 17.*\n\(and 3 steps before\)$/),
        expect.stringContaining('✅ Session complete'),
      ]);
      expect(
        (await rows(store)).filter(({ status }) => status === 'waiting' || status === 'planned'),
      ).toEqual([]);
    });

    it('are counted, however many they are', async () => {
      await using clocked = await open('2026-05-04T12:00:00Z');
      const { store, setClock } = clocked;
      const { bot, notify } = await telegram({ rollup: true });
      const [id, other] = [await routed(store, notify), await routed(store, notify)];
      await tell(store, other, 'iteration.settled', 7);
      for (let n = 1; n <= 5; n++) await tell(store, id, 'iteration.settled', n);
      expect(await deliver(courier(store, TOKEN))).toBe(5);
      await tell(store, other, 'iteration.settled', 8);
      await store.tx('tell', (db) =>
        appendEvents(
          db,
          id,
          Array.from({ length: 1_300 }, (_, n) => ({
            ...{ type: 'iteration.settled' as const, iteration: n + 6 },
            data: { signal: 'CONTINUE', summary: `Step ${n + 6}` },
          })),
        ),
      );
      const [carrier, ...others] = (await rows(store)).filter(({ status }) => status !== 'sent');
      // As the courier would gather them, one after the other.
      await store.tx('gather', async (db) => {
        const own = withNotifyTables(db);
        await own
          .updateTable('notifications')
          .set({ status: 'planned', gathers: 'rollup', run_at: '2026-05-04T12:10:00.000Z' })
          .where('number', '=', carrier!.number)
          .execute();
        await own
          .updateTable('notifications')
          .set({ status: 'gathered', gathered_in: carrier!.number })
          .where('number', '>', carrier!.number)
          .execute();
      });
      await setClock('2026-05-04T12:10:00Z');
      expect(await deliver(courier(store, TOKEN))).toBe(1);
      expect(texts(bot).at(-1)!.split('\n')).toEqual([
        expect.stringContaining('Iteration 8/10'),
        expect.stringContaining('Iteration 1305/10'),
        `(and ${others.length + 1 - 2} steps before)`,
      ]);
    });

    it('that begin before the quiet hours are told in the morning', async () => {
      await using clocked = await open('2026-05-04T21:55:00Z');
      const { store, setClock } = clocked;
      const { bot, notify } = await telegram({ rollup: true, quiet: '22:00-07:00' });
      const id = await routed(store, notify);
      for (let n = 1; n <= 8; n++) await tell(store, id, 'iteration.settled', n);
      expect(await deliver(courier(store, TOKEN))).toBe(5);
      await setClock('2026-05-04T22:05:00Z');
      await tell(store, id, 'iteration.settled', 9);
      expect(await deliver(courier(store, TOKEN))).toBe(0);
      await setClock('2026-05-05T07:00:00Z');
      expect(await deliver(courier(store, TOKEN))).toBe(1);
      expect(texts(bot)).toHaveLength(6);
      expect(texts(bot)[5]).toContain('🌅 Digest');
    });
  });
});
