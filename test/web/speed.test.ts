/** The page's own times, at three times of what the bench holds: others may use this machine, too. */
import { describe, expect, it } from 'vitest';
import { LANE } from '../lanes/lane.ts';
import { BROWSER, settled, useWebScene } from './scene.ts';
import {
  EVENTS,
  eventToPaint,
  feedEvents,
  firstView,
  heapGrowth,
  multiplyIterations,
  scrolling,
  slowDown,
  TARGETS,
} from './speed.ts';

const scene = useWebScene();
const LENIENT = 3;
const TRIES = 12;
/** Of a machine that has nothing else to do. */
const FRAME_MS = 17;
const ASKS = 'cat > /dev/null; echo x > x; echo "<signal>BLOCKED: a or b?</signal>"';

describe.skipIf(!BROWSER)('the page, four times slowed down', () => {
  it('shows its first view, an event and ten thousand rows in time', async () => {
    const id = await scene.start({ goal: 'A long night', command: ASKS });
    await scene.waitFor(id, 'blocked');
    multiplyIterations(scene.home, { id, count: 10_000 });
    const page = await scene.open('/login', { width: 1281 });
    await slowDown(page);
    await inTime(TARGETS.firstViewMs, () => firstView(page, scene.url));
    await page.getByText('live', { exact: true }).waitFor();
    let n = 0;
    await inTime(TARGETS.eventToPaintMs, async () => {
      n += 1;
      return eventToPaint(page, `Soon to be seen ${n}`, async () => {
        const next = await scene.start({ goal: `Soon to be seen ${n}`, command: ASKS });
        return Date.parse((await scene.ask('GET', `/api/pulse/${next}?view=head`)).session.created_at);
      });
    });
    await page.goto(`${scene.url}/s/${id}`);
    await settled(page);
    await inTime(TARGETS.frameMs, async () => {
      const { ms, idleMs } = await scrolling(page);
      return (ms * FRAME_MS) / Math.max(FRAME_MS, idleMs);
    });
    await page.close();
  });

  it('keeps nothing of a long stream of events', async () => {
    const count = LANE === 'all' ? EVENTS : EVENTS / 30;
    const id = await scene.start({ goal: 'A stream of events', command: ASKS });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open('/login', { width: 1282 });
    await feedEvents(page, { id, count });
    await page.goto(`${scene.url}/s/${id}`);
    expect(await heapGrowth(page, count)).toBeLessThan(TARGETS.heapMb);
    await page.close();
  });
});

/** Not each time: others have their turns on this machine. */
async function inTime(targetMs: number, measure: () => Promise<number>): Promise<void> {
  const took: number[] = [];
  while (took.length < TRIES && !took.some((ms) => ms <= targetMs * LENIENT)) took.push(await measure());
  expect(Math.min(...took), took.join(', ')).toBeLessThanOrEqual(targetMs * LENIENT);
}
