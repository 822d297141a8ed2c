/** How a page gets a key, and what else it needs to show who it is. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { SCOPES } from '../domain/access.ts';
import { viewDevice } from '../operations/access/devices.ts';
import { Device } from '../operations/access/operations.ts';
import { time } from '../operations/session/view-schema.ts';
import type { Pulse } from '../pulse.ts';
import { type ApiEnv, addressOf, type Gate } from './guard.ts';
import { json, refusals, WITH_TOKEN } from './route.ts';
import type { Tickets } from './tickets.ts';

export interface LoginRoutes {
  pulse: Pick<Pulse, 'access'>;
  gate: Gate;
  tickets: Tickets;
}

export function addLoginRoutes(app: OpenAPIHono<ApiEnv>, { pulse, gate, tickets }: LoginRoutes): void {
  app.openapi(loginRoute, async (c) => {
    const { token, code, name, scope } = c.req.valid('json');
    if (token !== undefined && !gate.isToken(token)) gate.throttle.refuse(addressOf(c));
    const made = await pulse.access.login({ name, scope, code: token === undefined ? code! : null });
    return c.json(made ?? gate.throttle.refuse(addressOf(c), WRONG_CODE), 201);
  });
  app.openapi(whoRoute, (c) => {
    const { scope, device } = c.get('caller');
    const answer = {
      device: device && viewDevice(device),
      isTokenNeeded: gate.needsTokenAlways,
      mayRead: scope !== null || !gate.needsTokenAlways,
      mayChange: scope === 'operate',
    };
    return c.json(answer, 200);
  });
  app.openapi(ticketRoute, (c) => c.json(tickets.issue(c.req.valid('json').path, c.get('caller')), 201));
}

const WRONG_CODE = {
  message: 'The code is not known, was used already, or is older than ten minutes.',
  hint: 'pulse open prints another one.',
};

const secret = z.string().min(1).max(200);

const loginRoute = createRoute({
  method: 'post',
  path: '/api/login',
  summary: 'Get a key for this device: with the token, or with a code from `pulse open`, which is good once.',
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z
            .strictObject({
              token: secret.optional(),
              code: secret.optional().describe('From `pulse open`, or what `pulse serve` prints.'),
              name: z
                .string()
                .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._()'-]{0,59}$/u, 'must be a short name')
                .optional()
                .describe('How events and the list of keys name the device.'),
              scope: z.enum(SCOPES).optional().describe('What the key is good for (operate).'),
            })
            .refine(({ token, code }) => (token === undefined) !== (code === undefined), {
              message: 'give either token or code',
            })
            .openapi('Login'),
        },
      },
    },
  },
  responses: {
    201: json('The key, which is shown once.', z.object({ key: z.string(), device: Device })),
    ...refusals(400, 413, 422),
  },
});

const whoRoute = createRoute({
  method: 'get',
  path: '/api/login',
  summary: 'Who asks, and what may they do? Never needs the token.',
  responses: {
    200: json(
      'The caller.',
      z.object({
        device: Device.nullable().describe('null: the token, or a stranger.'),
        isTokenNeeded: z.boolean().describe('Whether reading needs a token or a key here.'),
        mayRead: z.boolean(),
        mayChange: z.boolean(),
      }),
    ),
    ...refusals(),
  },
});

const ticketRoute = createRoute({
  method: 'post',
  path: '/api/tickets',
  summary: 'Get an address that can be downloaded within 60 s without a header.',
  security: WITH_TOKEN,
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z
            .strictObject({
              path: z
                .string()
                .max(4_000)
                .regex(/^\/api\/[\w./?=&%~:,+-]*$/, 'must begin with /api/')
                .describe('What to download, with its query.'),
            })
            .openapi('TicketRequest'),
        },
      },
    },
  },
  responses: {
    201: json('The address.', z.object({ url: z.string(), expiresAt: time })),
    ...refusals(400, 413, 422),
  },
});
