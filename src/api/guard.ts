/** Who may ask: Host and Origin are always checked; the token for every change, and for reading beyond loopback. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { PulseError } from '../domain/errors.ts';
import { createAuthThrottle } from './auth-throttle.ts';
import { HOOKS } from './hook-routes.ts';

export interface ApiEnv {
  /** Empty when the app is asked without a port. */
  Bindings: Partial<HttpBindings>;
}

export interface GuardOptions {
  token: string;
  /** What the server listens on. */
  host: string;
  /** `token`: reading needs it on loopback too. */
  reads: 'open' | 'token';
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const OPEN_PATHS = ['/api/health'];
const READING_METHODS = ['GET', 'HEAD', 'OPTIONS'];
/** Every call there is a POST; which ones change something is decided tool by tool. */
const MCP_PATH = '/mcp';

export function createGuard({ token, host, reads }: GuardOptions): MiddlewareHandler<ApiEnv> {
  const names = allowedNames(host);
  const expected = sha256(token);
  const throttle = createAuthThrottle();
  const needsTokenAlways = !isLoopback(host) || reads === 'token';

  return async (c, next) => {
    // Services come by the address that the world has for us, and show a signature.
    if (c.req.path.startsWith(HOOKS)) return next();
    const asked = parseHost(c.req.header('host') ?? new URL(c.req.url).host);
    if (!asked || !names.includes(asked.name)) throw wrongHost();
    checkOrigin(c.req.header('origin'), { names, port: asked.port });

    const shown = c.req.header('authorization');
    const isTrusted = shown !== undefined && isToken(shown, expected);
    if (shown !== undefined && !isTrusted) throttle.refuse(c.env?.incoming?.socket.remoteAddress ?? 'here');
    const { method, path } = c.req;
    const isChange = !READING_METHODS.includes(method) && path !== MCP_PATH;
    if (isChange && !isTrusted) throw tokenNeeded(`${method} ${path}`);
    if (needsTokenAlways && !isTrusted && !OPEN_PATHS.includes(path)) throw tokenNeeded('Reading here');
    await next();
  };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The names under which this server may be asked: another name means that a page had its own resolve to us. */
export function allowedNames(host: string): string[] {
  const isEverywhere = host === '0.0.0.0' || host === '::';
  const own = isEverywhere
    ? [
        hostname(),
        ...Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address)),
      ]
    : [host];
  const written = own
    .filter((name) => name !== undefined)
    .map((name) => (name.includes(':') ? `[${name}]` : name));
  return [...new Set([...LOOPBACK_NAMES, ...written.map((name) => name.toLowerCase())])];
}

function parseHost(text: string): { name: string; port: string } | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(text);
  return match ? { name: match[1]!.toLowerCase(), port: match[2] ?? '' } : null;
}

function checkOrigin(origin: string | undefined, asked: { names: readonly string[]; port: string }): void {
  if (origin === undefined) return;
  const url = URL.parse(origin);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isWeb && asked.names.includes(url.hostname) && url.port === asked.port) return;
  throw new PulseError('forbidden', 'Pages of other origins may not talk to Pulse.', {
    hint: 'Open the page that Pulse itself serves, or call the API from a program.',
  });
}

function isToken(header: string, expected: Buffer): boolean {
  const shown = /^Bearer +(\S+)$/i.exec(header)?.[1];
  return shown !== undefined && timingSafeEqual(sha256(shown), expected);
}

function wrongHost(): PulseError {
  return new PulseError('forbidden', 'The request names a host that is not this server.', {
    hint: 'Use localhost or 127.0.0.1; `pulse serve --host ADDRESS` makes another name known.',
  });
}

function tokenNeeded(what: string): PulseError {
  return new PulseError('unauthorized', `${what} needs the token.`, {
    hint: 'Send the content of the file `token` in the state directory in the header Authorization, after "Bearer".',
  });
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
