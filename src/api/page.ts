/** The page's own addresses, and what every answer tells a browser. */

/** What a page that Pulse serves may load, and who may show it. It runs no script that does not come from here. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Of every answer. */
export const SAFE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Content-Security-Policy', CONTENT_SECURITY_POLICY],
];

const PAGE_FILES = /^\/(?:assets\/[\w.@/-]*|favicon\.(?:ico|svg)|manifest\.webmanifest|robots\.txt)$/;
const PAGE_ROUTES = /^\/(?:|new|project|search|settings|login|(?:s|w|r|sw)(?:\/.*)?)$/;

/** What answers there are programs, also to a person who types the address. */
const OTHER_ROUTES = /^\/(?:api|mcp|hooks|metrics|assets)(?:\/|$)|^\/[^/]*\.[^/]*$/;

/** What a request says of itself. */
export interface Asked {
  path: string;
  method: string;
  header(name: string): string | undefined;
}

/** The page has no data of its own: a browser may load it without the token. */
export function isOfPage(asked: Asked): boolean {
  return isPageRoute(asked.path) || PAGE_FILES.test(asked.path) || isUnknownPage(asked);
}

/** An address of nothing that a person has opened: the page says so, and has the way to the others. */
export function isUnknownPage(asked: Asked): boolean {
  const { path, method } = asked;
  if (method !== 'GET' || isPageRoute(path) || OTHER_ROUTES.test(path)) return false;
  const kind = asked.header('sec-fetch-dest');
  return kind === undefined ? /\btext\/html\b/.test(asked.header('accept') ?? '') : kind === 'document';
}

/** Where the one HTML file is shown. */
export function isPageRoute(path: string): boolean {
  return PAGE_ROUTES.test(path);
}
