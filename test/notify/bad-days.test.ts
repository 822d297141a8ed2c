/** Each stand-in refuses, hangs, and dies after it has taken a message: what the courier makes of that. */
import { describe, expect, it } from 'vitest';
import { notifySchema } from '../../src/domain/notify.ts';
import { deliverDue } from '../../src/notify/courier.ts';
import { courier, deliver, hurry, routed, rows, say } from './outbox-scene.ts';
import { openFileStore } from './reading-scene.ts';
import { TAKERS } from './takers.ts';

async function scene(name: string) {
  const taker = await TAKERS[name]!();
  const store = await openFileStore();
  const id = await routed(store, notifySchema.parse(taker.notify));
  await say(store, id, 'one', 'two');
  const words = () => taker.shown().map((text) => /one|two/.exec(text)?.[0]);
  return { taker, store, words, means: courier(store, taker.environment) };
}

describe.each(Object.keys(TAKERS))('%s', (name) => {
  it('that dies after it has taken a message gets it again, before the next', async () => {
    const { taker, store, words, means } = await scene(name);
    taker.dies();
    expect(await deliver(means)).toBe(0);
    expect(words()).toEqual(['one']);
    await hurry(store);
    expect(await deliver(means)).toBe(2);
    // Discord knows that it is the same one.
    expect(words()).toEqual(name === 'discord' ? ['one', 'two'] : ['one', 'one', 'two']);
  });

  it.each([401, 403, 409, 429, 500, 503])('that answers %i gets it another time', async (status) => {
    const { taker, store, words, means } = await scene(name);
    taker.refuses(status);
    expect(await deliver(means)).toBe(0);
    expect(await rows(store)).toMatchObject([
      { status: 'waiting', attempts: 1, error: expect.stringContaining(`HTTP ${status}`) },
      { status: 'waiting', attempts: 0 },
    ]);
    await hurry(store);
    expect(await deliver(means)).toBe(2);
    expect(words()).toEqual(['one', 'two']);
  });

  it('that asks to wait is asked again then, and not before', async () => {
    const { taker, store, words, means } = await scene(name);
    taker.limits(77);
    expect(await deliver(means)).toBe(0);
    const [first] = await rows(store);
    const inMs = Date.parse(first!.run_at) - Date.now();
    expect(inMs).toBeLessThanOrEqual(77_000);
    // As long as this took, less.
    expect(inMs).toBeGreaterThan(60_000);
    expect(await deliver(means)).toBe(0);
    await hurry(store);
    expect(await deliver(means)).toBe(2);
    expect(words()).toEqual(['one', 'two']);
  });

  it('that never answers holds up no process that ends: the next one sends it', async () => {
    const { taker, words, means, store } = await scene(name);
    taker.refuses(0);
    expect(await deliverDue(means, AbortSignal.timeout(500))).toBe(0);
    expect(words()).toEqual([]);
    expect(await rows(store)).toMatchObject([{ status: 'waiting' }, { status: 'waiting' }]);
    expect(await deliver({ ...means, owner: 'next', isGone: () => true })).toBe(2);
    expect(words()).toEqual(['one', 'two']);
  });
});
