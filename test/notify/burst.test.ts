/** Ten thousand events while a service is away. */
import { expect, it } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { withNotifyTables } from '../../src/notify/tables.ts';
import { appendEvents } from '../../src/store/events.ts';
import { onBothStores } from '../coordination/both-stores.ts';
import { IS_ALL, IS_WHOLE } from '../lanes/lane.ts';
import { courier, deliver, hurry, routed, service } from './outbox-scene.ts';

const EVENTS = 10_000;
const MIB = 1024 * 1024;

onBothStores((open) => {
  it.runIf(IS_WHOLE)(
    'keeps them in order without keeping them in memory, and delivers them when it is back',
    async () => {
      const store = await open();
      const hook = await service();
      const id = await routed(
        store,
        notifySchema.parse({ webhooks: [{ url: hook.url, secretEnv: 'SECRET' }] }),
      );
      const detail = 'x'.repeat(2_000);
      for (let at = 0; at < EVENTS; at += 500)
        await store.tx('say', (db) =>
          appendEvents(
            db,
            id,
            Array.from({ length: 500 }, (_, n) => ({
              type: 'session.blocked' as const,
              data: { detail, n: at + n },
            })),
          ),
        );
      const means = courier(store, { SECRET: 'sssh-be-quiet' });
      globalThis.gc?.();
      const before = process.memoryUsage().heapUsed;
      for (let time = 0; time < 20; time++) {
        hook.replies.push(time % 2 ? 'hang up' : { status: 503 });
        expect(await deliver(means)).toBe(0);
        await hurry(store);
      }
      // Each time only the first was tried.
      expect(new Set(hook.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(hook.got).toHaveLength(20);
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(30 * MIB);
      hook.got.length = 0;
      // Delivering all of them takes a minute; elsewhere the first few hundred show the order.
      if (!IS_ALL)
        await store.tx('enough', (db) =>
          withNotifyTables(db)
            .deleteFrom('notifications')
            .where('seq', '>', 302)
            .where('seq', '<=', EVENTS - 100)
            .execute(),
        );
      expect(await deliver(means)).toBeGreaterThan(IS_ALL ? EVENTS - 1 : 300);
      const seqs = hook.got.map(({ headers }) => Number(String(headers['webhook-id']).split('_').at(-1)));
      expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
      expect(new Set(seqs).size).toBe(seqs.length);
    },
  );
});
