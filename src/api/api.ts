/** The HTTP surface: a Hono app that can be asked with `app.request()`, without a port. */
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { isPulseError, PulseError } from '../domain/errors.ts';
import { HealthAnswer } from './answers.ts';
import { readBody } from './body.ts';
import { answerError, unknownRoute, violationsError } from './errors.ts';
import { addEventRoute } from './event-route.ts';
import { addExportRoute, type ExportRoute } from './export-route.ts';
import { type ApiEnv, createGate, createGuard } from './guard.ts';
import { addLiveRoute } from './live-route.ts';
import { addLoginRoutes } from './login-routes.ts';
import { createMetrics } from './metrics.ts';
import { addOperation, byAddress, type OperationRoutes } from './operation-route.ts';
import { SAFE_HEADERS } from './page.ts';
import { json, refusals } from './route.ts';
import { createTickets } from './tickets.ts';

export interface ApiOptions extends OperationRoutes, Pick<ExportRoute, 'writeReport'> {
  token: string;
  /** What the server listens on; beyond loopback every request needs the token. */
  host?: string;
  /** `token`: reading needs it on loopback too. Default: open. */
  reads?: 'open' | 'token';
  /** How many sessions this process drives, for /metrics. */
  runners?: () => number;
  heartbeatMs?: number;
  /** Ends the event streams: the server stops. */
  signal?: AbortSignal;
  version?: string;
  /** Told of what should not have happened. */
  onFailure?: (error: unknown) => void;
}

const HEARTBEAT_MS = 15_000;

export type Api = OpenAPIHono<ApiEnv>;

export function createApi(options: ApiOptions): Api {
  const { pulse, token, host = '127.0.0.1', runners = () => 0, version = '0.0.0', onFailure } = options;
  const { heartbeatMs = HEARTBEAT_MS, reads = 'open' } = options;
  const app: Api = new OpenAPIHono<ApiEnv>({
    defaultHook: ({ success, target, ...result }) => {
      if (!success)
        throw violationsError(PARTS[target] ?? target, (result as { error: z.core.$ZodError }).error);
    },
  });
  app.onError((error, c) => {
    const answer = answerError(error, c);
    if (answer.status === 500) onFailure?.(error);
    return answer;
  });
  app.notFound((c) => answerError(unknownRoute(c), c));

  // Before the answer is made: a header that is added to one makes it twice as dear.
  app.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    for (const [name, value] of SAFE_HEADERS) c.header(name, value);
    await next();
  });
  const gate = createGate({ token, host, reads });
  const tickets = createTickets();
  const { find: findDevice, has: hasDevice } = pulse.access;
  app.use(createGuard({ gate, tickets, findDevice, hasDevice }));
  app.use(readBody);

  for (const views of byAddress(pulse.operations)) addOperation(app, views, options);
  addLoginRoutes(app, { pulse, gate, tickets });
  addExportRoute(app, options);
  addEventRoute(app, { ...options, heartbeatMs });
  addLiveRoute(app, { ...options, heartbeatMs });

  app.openapi(healthRoute, async (c) => {
    await pulse.list({ limit: 1 }).catch((cause: unknown) => {
      throw isPulseError(cause)
        ? cause
        : new PulseError('store_unavailable', 'The store does not answer.', { cause });
    });
    return c.json({ status: 'ok' as const }, 200);
  });
  const metrics = createMetrics({ pulse, runners });
  app.openapi(metricsRoute, async (c) => {
    return c.text(await metrics(), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
  });

  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  app.doc31('/openapi.json', { openapi: '3.1.0', info: { title: 'Pulse', version } });
  return app;
}

const PARTS: Record<string, string> = { json: 'body', param: 'path' };

const healthRoute = {
  method: 'get' as const,
  path: '/api/health',
  summary: 'Is the server there, and does its store answer? Never needs the token.',
  responses: { 200: json('Yes.', HealthAnswer), ...refusals() },
};

const metricsRoute = {
  method: 'get' as const,
  path: '/metrics',
  summary: 'Figures for Prometheus.',
  responses: {
    200: { description: 'Text.', content: { 'text/plain': { schema: z.string() } } },
    ...refusals(),
  },
};
