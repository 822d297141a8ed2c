/** Who may speak to a local HTTP server: the checks that keep web pages and strangers out. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** A name a browser only sends for a page of this machine: what defeats DNS rebinding. */
export function isLoopbackHost(host: string | null | undefined): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i.test(host ?? '');
}

/** Programs send no Origin; a page may speak only to the server it came from. */
export function isSameOrigin(origin: string | null | undefined, host: string | null | undefined): boolean {
  if (origin === null || origin === undefined) return true;
  const from = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  return from !== undefined && from.toLowerCase() === host?.toLowerCase();
}

export function bearerToken(authorization: string | null | undefined): string | null {
  return /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? null;
}

export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** In constant time. */
export function isToken(token: string | null, digest: Buffer): boolean {
  return token !== null && timingSafeEqual(tokenDigest(token), digest);
}
