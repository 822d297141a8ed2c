import { describe, expect, it } from 'vitest';
import { keepLease } from '../../src/engine/attempt/heartbeat.ts';
import { DEFAULT_TIMING } from '../../src/engine/engine.ts';
import { createVirtualTime } from '../fakes/virtual-time.ts';

const MINUTE = 60_000;

/** Keeps a lease for `forMs` of virtual time; returns when, in virtual time, it was lost. */
async function keep(
  renew: () => Promise<boolean>,
  { forMs, absenceMs }: { forMs: number; absenceMs?: number },
) {
  const time = createVirtualTime(0);
  const over = new AbortController();
  let lostAtMs: number | null = null;
  const kept = keepLease({
    clock: time.clock(() => false),
    timing: DEFAULT_TIMING,
    renew,
    over: over.signal,
    onLost() {
      lostAtMs = time.nowMs();
    },
    ...(absenceMs ? { absenceMs } : {}),
  });
  while (lostAtMs === null && time.nowMs() < forMs && (await time.step()));
  over.abort();
  await kept;
  return lostAtMs;
}

const never = (): Promise<boolean> => new Promise(() => undefined);

describe('keeping a lease', () => {
  it('ends as soon as the store says that it is somebody else’s', async () => {
    expect(await keep(async () => false, { forMs: MINUTE })).toBe(15_000);
  });

  it('goes on through an absence of any length where nobody else can take the work', async () => {
    const refuse = async () => {
      throw new Error('away');
    };
    expect(await keep(refuse, { forMs: 600 * MINUTE })).toBeNull();
  });

  it.each([
    ['refuses', () => Promise.reject(new Error('away'))],
    ['never answers', never],
  ])('ends after a limited absence where another host may take over, and the store %s', async (_, renew) => {
    const lostAtMs = await keep(renew, { forMs: 60 * MINUTE, absenceMs: 5 * MINUTE });
    expect(lostAtMs).toBeGreaterThan(5 * MINUTE);
    expect(lostAtMs).toBeLessThan(6 * MINUTE);
  });

  it('asks every two seconds while there is no answer, so that it speaks first when the store is back', async () => {
    const time = createVirtualTime(0);
    const over = new AbortController();
    const asked: number[] = [];
    void keepLease({
      clock: time.clock(() => false),
      timing: DEFAULT_TIMING,
      renew: async () => {
        asked.push(time.nowMs());
        if (asked.length < 4) throw new Error('away');
        return true;
      },
      over: over.signal,
      onLost: () => undefined,
    });
    while (asked.length < 5) await time.step();
    over.abort();
    expect(asked).toEqual([15_000, 17_000, 19_000, 21_000, 36_000]);
  });
});
