/** How quick the page is on a machine of a quarter of this one's speed, and what it keeps of a long night's events. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from 'playwright-core';

/** What the page is held to; a busy machine may take three times as long. */
export const TARGETS = { firstViewMs: 1_500, eventToPaintMs: 500, frameMs: 32, heapMb: 10 };
export const EVENTS = 1_500_000;
const SLOW_DOWN = 4;
const FRAMES = 240;
/** Comes every now and then, so that the page also asks for what it shows. */
const ONE_IN = 50_000;
/** It only guards against hanging. */
const LONGEST_MS = 600_000;

/** A context of its own for `page`: nothing is in its cache. */
export async function slowDown(page: Page): Promise<void> {
  const tools = await page.context().newCDPSession(page);
  await tools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_DOWN });
}

/** From the address to the first session that is drawn. */
export async function firstView(page: Page, url: string): Promise<number> {
  await page.goto(url);
  return paintOf(page, '.session-goal', '');
}

/** From the moment at which Pulse stored something to the frame that shows it. */
export async function eventToPaint(page: Page, goal: string, start: () => Promise<number>): Promise<number> {
  const [shown, storedAt] = await Promise.all([
    paintOf(page, '.session-goal', goal).then(() => page.evaluate(() => Date.now())),
    start(),
  ]);
  return shown - storedAt;
}

/** Milliseconds since the page began, at the frame after the one in which it was there. */
function paintOf(page: Page, selector: string, text: string): Promise<number> {
  return page
    .waitForFunction(
      ([wanted, words]) => {
        const all = [...document.querySelectorAll(wanted!)];
        if (!all.some((element) => element.textContent?.includes(words!))) return false;
        return new Promise<number>((resolve) =>
          requestAnimationFrame(() => resolve(Math.ceil(performance.now()))),
        );
      },
      [selector, text],
      { polling: 'raf' },
    )
    .then((handle) => handle.jsonValue() as Promise<number>);
}

/** The 95th of a hundred frames while the timeline is scrolled, and while nothing is: what the machine itself takes. */
export async function scrolling(page: Page): Promise<{ ms: number; idleMs: number }> {
  await page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').first().waitFor();
  return page.evaluate(async (count) => {
    const scroller = document.querySelector('.scroller')!;
    const measure = async (step: number): Promise<number> => {
      const took: number[] = [];
      let before = performance.now();
      for (let n = 0; n < count; n += 1) {
        scroller.scrollTop += step;
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        took.push(now - before);
        before = now;
      }
      took.sort((a, b) => a - b);
      return took[Math.floor(took.length * 0.95)]!;
    };
    return { idleMs: await measure(0), ms: await measure(60) };
  }, FRAMES);
}

/** In place of the server's stream: as many events of one session as eight hours have, as fast as they are read. */
export async function feedEvents(page: Page, { id, count }: { id: string; count: number }): Promise<void> {
  await page.addInitScript(
    ({ sessionId, total, oneIn }) => {
      const real = window.fetch;
      const state = window as unknown as { fed: number };
      state.fed = 0;
      window.fetch = (input, init) => {
        if (!String(input).startsWith('/api/live')) return real(input, init);
        const encoder = new TextEncoder();
        const stream = new ReadableStream<Uint8Array>({
          async pull(controller) {
            await new Promise((resolve) => setTimeout(resolve));
            if (state.fed >= total) return;
            let text = '';
            for (let n = 0; n < 1_000 && state.fed < total; n += 1) {
              state.fed += 1;
              const type = state.fed % oneIn === 0 ? 'iteration.settled' : 'agent.tool';
              const at = new Date().toISOString();
              const event = { seq: state.fed, type, at, sessionId, iteration: 1, data: { name: 'Edit', n } };
              text += `id: ${sessionId}:${state.fed}\ndata: ${JSON.stringify(event)}\n\n`;
            }
            controller.enqueue(encoder.encode(text));
          },
        });
        return Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
      };
    },
    { sessionId: id, total: count, oneIn: ONE_IN },
  );
}

/** What the heap has gained between a tenth of the events and all of them, in MB. */
export async function heapGrowth(page: Page, count: number): Promise<number> {
  const tools = await page.context().newCDPSession(page);
  const fed = (wanted: number) =>
    page.waitForFunction((n) => (window as unknown as { fed: number }).fed >= n, wanted, {
      ...{ polling: 250, timeout: LONGEST_MS },
    });
  const used = async (): Promise<number> => {
    await tools.send('HeapProfiler.collectGarbage');
    return (await tools.send('Runtime.getHeapUsage')).usedSize;
  };
  await fed(count / 10);
  const before = await used();
  await fed(count);
  return ((await used()) - before) / 2 ** 20;
}

/** As a session of many nights would have left them. */
export function multiplyIterations(home: string, { id, count }: { id: string; count: number }): void {
  using database = new DatabaseSync(join(home, 'pulse.db'), { timeout: 10_000 });
  const row = database
    .prepare('SELECT * FROM pulse_iterations WHERE session_id = ? AND iteration_number = 1')
    .get(id) as Record<string, string | number | null>;
  const columns = Object.keys(row);
  const insert = database.prepare(
    `INSERT INTO pulse_iterations (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const own = String(row.id);
  // Another letter before the number than the first one has: none of the new ids is its own.
  const head = own.slice(0, -7) + (own.at(-7) === 'f' ? 'e' : 'f');
  database.exec('BEGIN IMMEDIATE');
  for (let n = 2; n <= count; n += 1) {
    const copy: typeof row = { ...row, iteration_number: n, id: `${head}${String(n).padStart(6, '0')}` };
    insert.run(...columns.map((name) => copy[name] ?? null));
  }
  database
    .prepare('UPDATE pulse_sessions SET current_iteration = ?, max_iterations = ? WHERE id = ?')
    .run(count, count * 2, id);
  database.exec('COMMIT');
}
