import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type RetryStop, watchRetries } from '../../src/engine/run/retry-patience.ts';

const RETRY = { type: 'retry', attempt: 1, status: 429 } as const;

function watched(idleMs = 300) {
  const stops: RetryStop[] = [];
  return { stops, watch: watchRetries({ idleMs }, (stop) => stops.push(stop)) };
}

it('ends a run that goes on trying again, with the class of what it meets', async () => {
  const { stops, watch } = watched();
  using _ = watch;
  for (let index = 0; index < 8; index++) {
    watch.saw(RETRY);
    await sleep(50);
  }
  expect(stops).toMatchObject([{ class: 'rate_limit' }]);
});

it('leaves one alone whose last try has led somewhere, though it says nothing yet', async () => {
  const { stops, watch } = watched();
  using _ = watch;
  watch.saw(RETRY);
  await sleep(500);
  expect(stops).toEqual([]);
});

it('begins anew after any other sign of life', async () => {
  const { stops, watch } = watched(2_000);
  using _ = watch;
  for (let index = 0; index < 8; index++) {
    watch.saw(RETRY);
    // Half of them take less than the patience, with room for a busy machine; all of them more.
    await sleep(300);
    if (index === 3) watch.saw({ type: 'text', text: 'here' });
  }
  expect(stops).toEqual([]);
});
