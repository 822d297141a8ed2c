/** Who may ask (contract 6, Security): Host and Origin always; the token beyond loopback and for what people decide. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { PulseError } from '../domain/errors.ts';
import { createAttempts } from './attempts.ts';

export interface ApiEnv {
  /** Empty when the app is asked without a port. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    /** The request showed the token. */
    isTrusted: boolean;
  };
}

export interface GuardOptions {
  token: string;
  /** What the server listens on. */
  host: string;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const OPEN_PATHS = ['/api/health'];

export function createGuard({ token, host }: GuardOptions): MiddlewareHandler<ApiEnv> {
  const names = allowedNames(host);
  const expected = sha256(token);
  const attempts = createAttempts();
  const needsTokenAlways = !isLoopback(host);

  return async (c, next) => {
    const asked = parseHost(c.req.header('host') ?? new URL(c.req.url).host);
    if (!asked || !names.includes(asked.name)) throw wrongHost();
    checkOrigin(c.req.header('origin'), { names, port: asked.port });

    const shown = c.req.header('authorization');
    const isTrusted = shown !== undefined && isToken(shown, expected);
    if (shown !== undefined && !isTrusted) attempts.refuse(c.env?.incoming?.socket.remoteAddress ?? 'here');
    if (needsTokenAlways && !isTrusted && !OPEN_PATHS.includes(c.req.path)) throw tokenNeeded('This address');
    c.set('isTrusted', isTrusted);
    await next();
  };
}

/** Throws `unauthorized` unless the request showed the token. `what` begins the sentence. */
export function requireToken(c: Context<ApiEnv>, what: string): void {
  if (!c.get('isTrusted')) throw tokenNeeded(what);
}

/** Whoever may start a session may enclose it; that it may go without what the config asks for is a person's word. */
export function requireTokenForSandbox(c: Context<ApiEnv>, { sandbox }: { sandbox?: string }): void {
  if (sandbox === 'off' || sandbox === 'auto') requireToken(c, `A start with \`sandbox: ${sandbox}\``);
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
    hint: 'Use localhost or 127.0.0.1; `pulse serve --host` makes another name known.',
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
