/** Whatever the line does, afterwards the page says what the API says: nothing is lost, nothing is doubled. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { type LineProxy, openProxy } from './proxy.ts';
import { BROWSER, eventually, settled, useWebScene } from './scene.ts';

const scene = useWebScene();
const STEPS =
  'cat > /dev/null; sleep 0.3; date +%N > "f$PULSE_ITERATION"; echo "Step. <signal>CONTINUE</signal>"';
const ASKS = 'cat > /dev/null; echo x > x; echo "<signal>BLOCKED: a or b?</signal>"';

interface Watched {
  id: string;
  page: Page;
  proxy: LineProxy;
}

/** A session that goes on while its line does not, and a page that shows its events and iterations. */
async function watchSteps(goal: string): Promise<Watched> {
  const id = await scene.start({ goal, command: STEPS, maxIterations: 2_000 });
  const proxy = await openProxy(Number(new URL(scene.url).port));
  const page = await scene.openElsewhere(`${proxy.url}/s/${id}?tab=events`);
  await settled(page);
  await page.getByRole('list', { name: 'Timeline' }).getByText('Iteration 2').waitFor();
  return { id, page, proxy };
}

async function iterationsOf(id: string): Promise<number> {
  return (await scene.ask('GET', `/api/pulse/${id}?view=head`)).iterations;
}

async function grow(id: string, by: number): Promise<void> {
  const before = await iterationsOf(id);
  await eventually(() => iterationsOf(id)).toBeGreaterThanOrEqual(before + by);
}

/** The session is paused first, so that both can be compared. */
async function expectSame({ id, page }: Watched): Promise<void> {
  await scene.ask('POST', `/api/pulse/${id}/pause`, {});
  await scene.waitFor(id, 'paused');
  await page.getByRole('status', { name: 'Session status' }).getByText('paused', { exact: true }).waitFor();
  const { iterations, lastSeq } = await scene.ask('GET', `/api/pulse/${id}?view=head`);
  const numbers = () => page.locator('.timeline-number').allTextContents();
  const expected = Array.from({ length: iterations }, (_, index) => `Iteration ${iterations - index}`);
  await eventually(numbers).toEqual(expected);
  const events = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
  await eventually(async () => Number.parseInt((await events.first().textContent()) ?? '', 10)).toBe(lastSeq);
  const seqs = (await events.allTextContents()).map((text) => Number.parseInt(text, 10));
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => lastSeq - index));
}

async function leave({ id, page, proxy }: Watched): Promise<void> {
  await page.close();
  await proxy[Symbol.asyncDispose]();
  await scene.ask('POST', `/api/pulse/${id}/abort`, {});
}

describe.skipIf(!BROWSER)('the page says what the API says', () => {
  it('after its line was cut', async () => {
    const watched = await watchSteps('Over a line that is cut');
    watched.proxy.cut();
    await watched.page.getByText(/^not live/).waitFor();
    await grow(watched.id, 3);
    watched.proxy.mend();
    await watched.page.getByText('live', { exact: true }).waitFor();
    await expectSame(watched);
    await leave(watched);
  });

  it('after its connections went silent without an end', async () => {
    const watched = await watchSteps('Over a line that freezes');
    watched.proxy.freeze();
    await grow(watched.id, 3);
    await expectSame(watched);
    await leave(watched);
  });

  it('over the line of a slow phone', async () => {
    const watched = await watchSteps('Over a slow line');
    watched.proxy.slow({ latencyMs: 300, bytesPerSecond: 50_000 });
    await watched.page.reload();
    await settled(watched.page);
    await grow(watched.id, 3);
    await expectSame(watched);
    await leave(watched);
  });

  it('after the server was killed; meanwhile nothing can be sent, and what was typed stays', async () => {
    const id = await scene.start({ goal: 'Of a server that is killed', command: ASKS });
    await scene.waitFor(id, 'blocked');
    const page = await scene.open(`/s/${id}`);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Answer' }).fill('The first');
    await scene.kill();
    const killedMs = Date.now();
    await page.getByRole('button', { name: 'Resume' }).and(page.locator(':disabled')).waitFor();
    // Three seconds by the design; others may use this machine, too.
    expect(Date.now() - killedMs).toBeLessThan(6_000);
    await page.getByText(/^not live since/).waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('r');
    await scene.restart();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).and(page.locator(':enabled')).waitFor();
    expect(await page.getByRole('textbox', { name: 'Answer' }).inputValue()).toBe('The first');
    const { events } = await scene.ask('GET', `/api/pulse/${id}/history?types=session.resumed`);
    expect(events).toEqual([]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await eventually(() => iterationsOf(id)).toBe(2);
    await page.getByRole('list', { name: 'Timeline' }).getByText('Iteration 2').waitFor();
    await page.close();
  });

  it('at once after a sleep, in which its connections have died', async () => {
    const proxy = await openProxy(Number(new URL(scene.url).port));
    const page = await scene.openElsewhere(`${proxy.url}/`);
    await page.getByText('live', { exact: true }).waitFor();
    await setVisibility(page, { state: 'hidden', laterMs: 0 });
    proxy.freeze();
    await scene.start({ goal: 'Begun while it slept', command: ASKS });
    await setVisibility(page, { state: 'visible', laterMs: 20_000 });
    const backMs = Date.now();
    await page.getByRole('link', { name: 'Begun while it slept', exact: true }).waitFor();
    expect(Date.now() - backMs).toBeLessThan(10_000);
    const { sessions } = await scene.ask('GET', '/api/pulse?view=card');
    const shown = await page.locator('.session-goal').allTextContents();
    expect(shown.toSorted()).toEqual(sessions.map(({ goal }: { goal: string }) => goal).toSorted());
    await page.close();
    await proxy[Symbol.asyncDispose]();
  });
});

/** As a browser tells it, `laterMs` later by its clock. */
async function setVisibility(
  page: Page,
  { state, laterMs }: { state: 'hidden' | 'visible'; laterMs: number },
): Promise<void> {
  await page.evaluate(
    ([wanted, ms]) => {
      const now = Date.now;
      Date.now = () => now() + ms;
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => wanted });
      document.dispatchEvent(new Event('visibilitychange'));
    },
    [state, laterMs] as const,
  );
}
