/** Between node:http and the web's Request and Response, which the MCP SDK speaks. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** How much of a body that is too long is still read, so that its sender hears the answer and not a hang-up. */
const DRAINED = 32;

/** `null` when it is longer than `maxBytes`. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes * DRAINED) return null;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes > maxBytes ? null : Buffer.concat(chunks);
}

export function toWebRequest(request: IncomingMessage, body: Buffer): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) headers.append(name, each);
  }
  const method = request.method ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  return new Request(url, { method, headers, body: hasBody ? new Uint8Array(body) : null });
}

/**
 * Resolves when everything is written, or the reader has gone; the body is cancelled then. One connection for each
 * request: kept open they were no quicker for an agent, and a run's end leaves none behind.
 */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  const headers = { ...Object.fromEntries(answer.headers), connection: 'close' };
  if (!answer.body || answer.headers.get('content-type') !== 'text/event-stream') {
    const body = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { ...headers, 'content-length': body.length }).end(body);
    return;
  }
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  await pipeline(Readable.fromWeb(answer.body), response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}
