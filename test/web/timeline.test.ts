/** A session of a long night: what is asked for stays bounded, and every iteration can be gone to. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { BROWSER, eventually, settled, useWebScene } from './scene.ts';
import { multiplyIterations } from './speed.ts';

const scene = useWebScene();
const ASKS = 'cat > /dev/null; echo x > x; echo "<signal>BLOCKED: a or b?</signal>"';
const COUNT = 10_000;

async function makeLongNight(goal: string): Promise<string> {
  const id = await scene.start({ goal, command: ASKS });
  await scene.waitFor(id, 'blocked');
  multiplyIterations(scene.home, { id, count: COUNT });
  return id;
}

function marked(page: Page) {
  return page.getByRole('list', { name: 'Timeline' }).locator('a[aria-current="true"]');
}

describe.skipIf(!BROWSER)('the timeline of a long night', () => {
  it('asks for one page of iterations when something happens, however many were scrolled through', async () => {
    const id = await makeLongNight('To be scrolled through');
    const page = await scene.open(`/s/${id}`);
    await settled(page);
    await page.getByRole('list', { name: 'Timeline' }).getByText(`Iteration ${COUNT}`).waitFor();
    await page.evaluate(async () => {
      const scroller = document.querySelector('.scroller')!;
      for (let at = 0; at < scroller.scrollHeight; at += 2_000) {
        scroller.scrollTop = at;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      scroller.scrollTop = scroller.scrollHeight;
    });
    await page.getByRole('list', { name: 'Timeline' }).getByText('Iteration 1', { exact: true }).waitFor();
    await settled(page);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.split('/').at(-1)!));
    await scene.ask('POST', `/api/pulse/${id}/notes`, { text: 'Mind the gap.' });
    await eventually(
      () => asked.filter((path) => path.startsWith('pls_') || path === id).length,
    ).toBeGreaterThan(0);
    await page.waitForTimeout(1_000);
    expect(asked.filter((path) => path === 'iterations').length).toBeLessThanOrEqual(1);
    expect(asked.length).toBeLessThan(10);
    await page.close();
  });

  it('goes to any iteration, and marks it', async () => {
    const id = await makeLongNight('To be jumped through');
    const page = await scene.open(`/s/${id}`);
    await settled(page);
    await page.getByLabel('Go to iteration').fill('4321');
    await page.keyboard.press('Enter');
    await eventually(() => marked(page).textContent()).toContain('Iteration 4321');
    expect(await marked(page).isVisible()).toBe(true);
    await page.getByRole('region', { name: 'Iteration 4321' }).waitFor();
    await page.goto(`${scene.url}/s/${id}/i/17`);
    await eventually(() => marked(page).textContent()).toMatch(/Iteration 17\D.*blocked/i);
    await page.close();
  });

  it('brings what a finger chose into view', async () => {
    const id = await scene.start({
      goal: 'On a phone',
      command: 'cat > /dev/null; date +%N > "p$PULSE_ITERATION"; echo "Step. <signal>CONTINUE</signal>"',
      maxIterations: 12,
    });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/s/${id}`, { width: 390 });
    await settled(page);
    await page.getByRole('list', { name: 'Timeline' }).getByText('Iteration 11').click();
    const detail = page.getByRole('region', { name: 'Iteration 11' });
    await detail.waitFor();
    await eventually(() => detail.evaluate((one) => one.contains(document.activeElement))).toBe(true);
    const top = (await detail.boundingBox())!.y;
    expect(top).toBeGreaterThanOrEqual(0);
    expect(top).toBeLessThan(400);
    await page.close();
  });
});
