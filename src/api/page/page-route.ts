/** The page at `/`: its files, and its one HTML file at each of its addresses. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { answerError, unknownRoute } from '../errors.ts';
import type { ApiEnv } from '../guard.ts';
import { isOfPage, isPageRoute, isUnknownPage } from '../page.ts';
import { type Encoding, INDEX, type PageFile, type PageFiles } from './page-files.ts';

/** A build takes a second or two: who asks meanwhile waits a little before being told. */
const PATIENCE_MS = 4_000;

/** `page` may still be under way; where it fails, its message is shown. */
export function addPageRoutes(
  app: OpenAPIHono<ApiEnv>,
  page: Promise<PageFiles>,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): void {
  page.catch(() => undefined);
  app.get('*', async (c, next) => {
    const { path } = c.req;
    if (!isOfPage(c.req)) return next();
    const isDone = await Promise.race([
      page.then(
        () => true,
        () => true,
      ),
      sleep(patienceMs, false, { ref: false }),
    ]);
    if (!isDone) return plain(c, 503, { title: 'Pulse', text: BUILDING, isRetried: true });
    const files = await page.catch((error: Error) => error);
    if (files instanceof Error) return plain(c, 503, { title: 'Pulse', text: files.message });
    if (isPageRoute(path)) return send(c, files.get(INDEX)!, 'no-cache');
    if (isUnknownPage(c.req)) return send(c, files.get(INDEX)!, 'no-cache', 404);
    const file = files.get(path);
    return file ? send(c, file, 'public, max-age=31536000, immutable') : answerError(unknownRoute(c), c);
  });
}

const BUILDING = 'The page is being built. The API answers already; this page opens by itself.';

function send(
  c: Context,
  { type, content, compressed }: PageFile,
  caching: string,
  status: 200 | 404 = 200,
): Response {
  const encoding = encodingFor(c.req.header('accept-encoding') ?? '', compressed);
  const headers = { 'Content-Type': type, 'Cache-Control': caching, Vary: 'Accept-Encoding' };
  if (!encoding) return c.body(content, status, headers);
  return c.body(compressed[encoding]!, status, { ...headers, 'Content-Encoding': encoding });
}

function encodingFor(accepted: string, compressed: PageFile['compressed']): Encoding | undefined {
  const names = accepted.split(',').map((part) => part.split(';')[0]!.trim());
  return (['br', 'gzip'] as const).find((name) => compressed[name] && names.includes(name));
}

/** Where there is no page to show, in words; it needs neither script nor style. */
function plain(
  c: Context,
  status: 503,
  { title, text, isRetried = false }: { title: string; text: string; isRetried?: boolean },
): Response {
  const again = isRetried ? '<meta http-equiv="refresh" content="1">' : '';
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">${again}<title>${escapeHtml(title)}</title><p>${escapeHtml(text)}</p>\n`;
  return c.body(html, status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
  });
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
