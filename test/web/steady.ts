/** A page that looks the same each time: its clock stands, and what is new in each run has the same name and value. */
import { createHash } from 'node:crypto';
import type { Page, Route } from 'playwright-core';
import type { WebScene } from './scene.ts';

const HAPPENED = '2026-01-01T12:00:00.000Z';
const LOOKED_AT = '2026-01-01T12:05:00.000Z';
const COMMIT = '5eed1a7c0ffee5eed1a7c0ffee5eed1a7c0ffee5';
/** What depends on the machine, on its load, or on the name of a temporary folder. */
const MEASURED =
  /"(running_ms|duration_ms|durationMs)":\d+|"(context_tokens|input_tokens|output_tokens|total_tokens_used)":[1-9]\d*/g;
/** So far apart two colours of one pixel may lie: what a person does not see is no difference. */
const SEEN = 25;

/** What the API answers for `sessions`, oldest first, in other words. */
export async function holdStill(page: Page, scene: WebScene, sessions: readonly string[]): Promise<void> {
  await page.clock.setFixedTime(LOOKED_AT);
  await page.addInitScript(hearNothing);
  await page.route('**/api/**', (route) => answerSteadily(route, scene, sessions));
}

export function steadyId(sessions: readonly string[], id: string): string {
  const number = String(sessions.indexOf(id) + 1);
  return `ses_00000000-0000-7000-8000-${number.padStart(12, '0')}`;
}

/** In the page: the stream is there, and tells nothing. */
function hearNothing(): void {
  const real = window.fetch;
  window.fetch = (input, init) => {
    if (!String(input).startsWith('/api/live')) return real(input, init);
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(': there\n\n')),
    });
    return Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }));
  };
}

async function answerSteadily(route: Route, scene: WebScene, sessions: readonly string[]): Promise<void> {
  let url = route.request().url();
  for (const id of sessions) url = url.replaceAll(steadyId(sessions, id), id);
  const response = await route.fetch({ url });
  let text = await response.text();
  for (const id of sessions) {
    const steady = steadyId(sessions, id);
    text = text.replaceAll(id, steady);
    for (const mark of ['-', '"'])
      text = text.replaceAll(`${mark}${id.slice(-4)}"`, `${mark}${steady.slice(-4)}"`);
  }
  text = text
    .replaceAll(scene.directory, '/home/you')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, HAPPENED)
    .replaceAll(/\b[0-9a-f]{40}\b/g, COMMIT)
    .replaceAll(MEASURED, '"$1$2":1900');
  await route.fulfill({ response, body: text });
}

/** By what letters are drawn here: another font, or another way to draw it, makes other pictures. */
export async function lettersOf(page: Page): Promise<string> {
  await page.setContent(
    `<body style="margin:8px;font:14px/20px system-ui,sans-serif">Sphinx of black quartz, judge my vow: 0123456789<br>
     <b>Bold words</b> <code style="font:13px ui-monospace,monospace">const x = (1 &lt; 2) !== [];</code> ✓ → ß</body>`,
  );
  await page.setViewportSize({ width: 480, height: 64 });
  return createHash('sha256')
    .update(await page.screenshot())
    .digest('hex');
}

/** The part of the pixels in which two pictures of one size differ; 1: they have another size. */
export function differenceOf(page: Page, pictures: readonly [Buffer, Buffer]): Promise<number> {
  return page.evaluate(
    async ({ both, seen }) => {
      const read = async (data: string): Promise<ImageData> => {
        const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [a, b] = [await read(both[0]!), await read(both[1]!)];
      if (a.width !== b.width || a.height !== b.height) return 1;
      let count = 0;
      for (let at = 0; at < a.data.length; at += 4)
        if ([0, 1, 2].some((part) => Math.abs(a.data[at + part]! - b.data[at + part]!) > seen)) count += 1;
      return count / (a.width * a.height);
    },
    { both: pictures.map((picture) => picture.toString('base64')), seen: SEEN },
  );
}
