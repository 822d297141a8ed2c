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

/** The page has no data of its own: a browser may load it without the token. */
export function isPagePath(path: string): boolean {
  return isPageRoute(path) || PAGE_FILES.test(path);
}

/** Where the one HTML file is shown. */
export function isPageRoute(path: string): boolean {
  return PAGE_ROUTES.test(path);
}
