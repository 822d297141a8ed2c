/** Reads a request's body before anyone else does: at most 1 MB of it, and all that is sent where that is bearable. */
import type { MiddlewareHandler } from 'hono';
import { PulseError } from '../domain/errors.ts';
import { MAX_BODY_BYTES, tooLarge } from './errors.ts';
import type { ApiEnv } from './guard.ts';

/** A client that is cut off while it sends may never see the answer: so much is read and thrown away. */
const DISCARDED_BYTES = 16 * MAX_BODY_BYTES;

export const readBody: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const { raw } = c.req;
  if (raw.method === 'GET' || raw.method === 'HEAD') return next();
  if (isSmall(c.req.header('content-length')) && c.req.path.startsWith('/api/')) return next();
  const { bytes, chunks } = await read(raw.body);
  if (bytes > DISCARDED_BYTES) c.header('Connection', 'close');
  if (bytes > MAX_BODY_BYTES) throw tooLarge();
  const headers = new Headers(raw.headers);
  // An empty body is not JSON, even if the client names that type.
  if (bytes === 0) headers.delete('content-type');
  const body = bytes === 0 ? undefined : Buffer.concat(chunks);
  c.req.raw = new Request(raw.url, { method: raw.method, headers, body });
  return next();
};

/** The parser of HTTP holds it to that length, and who needs it reads it at once: most of a small request's time. */
function isSmall(length: string | undefined): boolean {
  return length !== undefined && /^[1-9]\d{0,6}$/.test(length) && Number(length) <= MAX_BODY_BYTES;
}

async function read(body: Request['body']): Promise<{ bytes: number; chunks: Uint8Array[] }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      if (bytes > DISCARDED_BYTES) break;
    }
  } catch (cause) {
    throw new PulseError('usage', 'The body ended before it was whole.', { cause });
  }
  return { bytes, chunks };
}
