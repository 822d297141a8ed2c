/** Who may ask: Host and Origin are always checked; the token for every change, and for reading beyond loopback. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { PulseError } from '../domain/errors.ts';
import { KEY_PREFIX } from '../operations/access/devices.ts';
import type { Device } from '../store/devices.ts';
import { type AuthThrottle, createAuthThrottle } from './auth-throttle.ts';
import { type Caller, deviceCaller, STRANGER, TOKEN_HOLDER } from './caller.ts';
import { HOOKS } from './hook-routes.ts';
import { isOfPage } from './page.ts';
import type { Tickets } from './tickets.ts';

export interface ApiEnv {
  /** Empty when the app is asked without a port. */
  Bindings: Partial<HttpBindings>;
  Variables: { caller: Caller };
}

export interface GateOptions {
  token: string;
  /** What the server listens on. */
  host: string;
  /** `token`: reading needs it on loopback too. */
  reads: 'open' | 'token';
}

/** What decides who may come in; shared by all that look at a secret. */
export interface Gate {
  names: readonly string[];
  isToken(shown: string): boolean;
  throttle: AuthThrottle;
  needsTokenAlways: boolean;
}

export function createGate({ token, host, reads }: GateOptions): Gate {
  const expected = sha256(token);
  return {
    names: allowedNames(host),
    isToken: (shown) => timingSafeEqual(sha256(shown), expected),
    throttle: createAuthThrottle(),
    needsTokenAlways: !isLoopback(host) || reads === 'token',
  };
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const LOGIN = '/api/login';
const OPEN_PATHS = ['/api/health', LOGIN];
const READING_METHODS = ['GET', 'HEAD', 'OPTIONS'];
/** Every call there is a POST; which ones change something is decided tool by tool. */
const MCP_PATH = '/mcp';
/** A POST that changes nothing. */
const TICKETS_PATH = '/api/tickets';

export interface GuardOptions {
  gate: Gate;
  tickets: Tickets;
  findDevice(key: string): Promise<Device | null>;
  hasDevice(id: string): Promise<boolean>;
}

export function createGuard(options: GuardOptions): MiddlewareHandler<ApiEnv> {
  const { gate, tickets } = options;
  return async (c, next) => {
    // Services come by the address that the world has for us, and show a signature.
    if (c.req.path.startsWith(HOOKS)) return next();
    const asked = parseHost(c.req.header('host') ?? new URL(c.req.url).host);
    if (!asked || !gate.names.includes(asked.name)) throw wrongHost();
    checkOrigin(c.req.header('origin'), { names: gate.names, port: asked.port });

    const { method, path } = c.req;
    if (isOfAnotherPage(c) && !(isNavigation(c) && isOfPage(c.req))) throw otherOrigin();
    const isReading = READING_METHODS.includes(method);
    const shown = c.req.header('authorization');
    const caller =
      shown === undefined
        ? (method === 'GET' && (await redeemed(c, tickets, options))) || STRANGER
        : await identify(shown, options, () => addressOf(c));
    c.set('caller', caller);

    const isChange = !isReading && path !== MCP_PATH && path !== LOGIN;
    if (isChange && caller.scope === null) throw tokenNeeded(`${method} ${path}`);
    if (isChange && caller.scope === 'read' && path !== TICKETS_PATH) throw onlyReading();
    const isOpen = OPEN_PATHS.includes(path) || (isReading && isOfPage(c.req));
    if (gate.needsTokenAlways && caller.scope === null && !isOpen) throw tokenNeeded('Reading here');
    await next();
  };
}

/** Throws `unauthorized`, or `rate_limited`, for what is neither the token nor a key. */
async function identify(
  shown: string,
  { gate, findDevice }: GuardOptions,
  address: () => string,
): Promise<Caller> {
  const secret = /^Bearer +(\S+)$/i.exec(shown)?.[1];
  if (secret !== undefined && gate.isToken(secret)) return TOKEN_HOLDER;
  const device = secret?.startsWith(KEY_PREFIX) ? await findDevice(secret) : null;
  return device ? deviceCaller(device) : gate.throttle.refuse(address());
}

/** A ticket is as good as the key it was given for, and no longer. What it opens is a download. */
async function redeemed(c: Context, tickets: Tickets, { hasDevice }: GuardOptions): Promise<Caller | null> {
  const caller = tickets.redeem(new URL(c.req.url));
  if (!caller || (caller.device && !(await hasDevice(caller.device.id)))) return null;
  c.header('Content-Disposition', 'attachment');
  return caller;
}

/** Whom to count a wrong secret against. */
export function addressOf(c: { env?: Partial<HttpBindings> }): string {
  return c.env?.incoming?.socket.remoteAddress ?? 'here';
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
  throw otherOrigin();
}

/** A browser sends no Origin with a picture, a script or a frame, but says there that another page has it. */
function isOfAnotherPage(c: Context): boolean {
  const site = c.req.header('sec-fetch-site');
  return site === 'cross-site' || site === 'same-site';
}

/** Somebody followed a link: what comes is a page of its own, which the other one cannot read. */
function isNavigation(c: Context): boolean {
  return c.req.header('sec-fetch-mode') === 'navigate' && c.req.header('sec-fetch-dest') === 'document';
}

function otherOrigin(): PulseError {
  return new PulseError('forbidden', 'Pages of other origins may not talk to Pulse.', {
    hint: 'Open the page that Pulse itself serves, or call the API from a program.',
  });
}

function wrongHost(): PulseError {
  return new PulseError('forbidden', 'The request names a host that is not this server.', {
    hint: 'Use localhost or 127.0.0.1; `pulse serve --host ADDRESS` makes another name known.',
  });
}

function onlyReading(): PulseError {
  return new PulseError('forbidden', 'The key of this device is for looking only.', {
    hint: 'Sign in with the token, or with a link from `pulse open`.',
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
