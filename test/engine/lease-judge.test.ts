import { describe, expect, it } from 'vitest';
import { createLeaseJudge, type SeenLease } from '../../src/engine/attempt/lease-judge.ts';
import { DEFAULT_TIMING } from '../../src/engine/engine.ts';

/** A judge whose clock and store's clock are moved by hand; it looks once a second while time passes. */
function makeJudge() {
  let elapsedMs = 1_000;
  let storeMs = 5_000_000;
  const clock = { nowMs: () => 0, elapsedMs: () => elapsedMs, sleep: async () => undefined };
  const judge = createLeaseJudge({ clock, timing: DEFAULT_TIMING });
  const look = (lease: Partial<SeenLease> = {}) =>
    judge.mayTake({ key: 'a.1', holder: 'elsewhere', isOver: true, storeNowMs: storeMs, ...lease });
  function pass(seconds: number, lease?: Partial<SeenLease>): boolean {
    let isTaken = false;
    for (let second = 0; second < seconds; second++) {
      elapsedMs += 1_000;
      storeMs += 1_000;
      isTaken = look(lease);
    }
    return isTaken;
  }
  return {
    look,
    pass,
    /** It has looked for a while, and everything was as it should be. */
    settle: () => void pass(31, { isOver: false }),
    /** The process does nothing for a while: frozen, or its store does not answer. */
    stall(seconds: number): void {
      elapsedMs += seconds * 1_000;
      storeMs += seconds * 1_000;
    },
    stepStore(seconds: number): void {
      storeMs += seconds * 1_000;
    },
  };
}

describe('whether a lease may be taken from its holder', () => {
  it('from another host at once, when the store calls it over and time has passed as usual', () => {
    const { look, pass } = makeJudge();
    expect(look({ isOver: false })).toBe(false);
    expect(pass(60, { isOver: false })).toBe(false);
    expect(pass(1)).toBe(true);
  });

  it('not before two heartbeats after its very first look: it may just have been started after an outage', () => {
    const { look, pass } = makeJudge();
    expect(look()).toBe(false);
    expect(pass(29)).toBe(false);
    expect(pass(1)).toBe(true);
  });

  it.each(['elsewhere', 'alive'] as const)(
    'not before two heartbeats after it stalled itself (holder %s)',
    (holder) => {
      const { look, pass, settle, stall } = makeJudge();
      settle();
      stall(70);
      expect(look({ holder })).toBe(false);
      expect(pass(29, { holder })).toBe(false);
      expect(pass(holder === 'alive' ? 31 : 1, { holder })).toBe(true);
    },
  );

  it('not before two heartbeats after the clock of the store was set forward', () => {
    const { look, pass, settle, stepStore } = makeJudge();
    settle();
    stepStore(60);
    expect(look()).toBe(false);
    expect(pass(29)).toBe(false);
    expect(pass(1)).toBe(true);
  });

  it('not from a holder that speaks up meanwhile', () => {
    const { pass, settle } = makeJudge();
    settle();
    expect(pass(20, { holder: 'alive' })).toBe(false);
    expect(pass(1, { holder: 'alive', isOver: false })).toBe(false);
    expect(pass(29, { holder: 'alive' })).toBe(false);
    expect(pass(2, { holder: 'alive' })).toBe(true);
  });
});
