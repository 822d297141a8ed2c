/** An operation as a route: its fields are the path, the query and the body, its view is the answer. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { TransactionHook } from '../operations/context.ts';
import { fieldSchema, orEmpty } from '../operations/field-schema.ts';
import { type Field, fieldsOn } from '../operations/fields.ts';
import type { AnyOperation } from '../operations/operation.ts';
import type { Pulse } from '../pulse.ts';
import type { ApiEnv } from './guard.ts';
import { performChange } from './idempotent-route.ts';
import { json, refusals, WITH_TOKEN } from './route.ts';

export interface OperationRoutes {
  pulse: Pulse;
  /** Drives the session from here on; called again for one that is being driven it does nothing. */
  runSession(sessionId: string): void;
  /** Written with each start and resume. */
  take?: TransactionHook;
}

const KeyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
    .optional(),
});

/** In the order of the table; readings that are views of one address stand together, the plain one first. */
export function byAddress(operations: readonly AnyOperation[]): AnyOperation[][] {
  const routed = operations.filter(({ http }) => http !== undefined);
  const addresses = Map.groupBy(routed, ({ http }) => `${http!.method} ${http!.path}`);
  return [...addresses.values()].map((views) =>
    views.toSorted((a, b) => Number(a.http!.view !== undefined) - Number(b.http!.view !== undefined)),
  );
}

/** `views`: of one address. A change is alone there. */
export function addOperation(
  app: OpenAPIHono<ApiEnv>,
  views: readonly AnyOperation[],
  options: OperationRoutes,
): void {
  const [operation] = views as [AnyOperation];
  const places = new Map(views.map((view) => [view.http!.view, placesOf(view)]));
  const route =
    operation.access === 'read'
      ? readRoute([...places.values()])
      : changeRoute(operation, places.get(undefined)!);
  // The handler's types come from the table: here only how each part is read is known.
  app.openapi(route, (async (c: Context<ApiEnv>) => {
    if (operation.access !== 'read')
      return answerChange(c, operation, { input: readInput(c, places.get(undefined)!), ...options });
    const { view } = (c.req.valid('query' as never) as { view?: string } | undefined) ?? {};
    const asked = places.get(views.length > 1 ? view : undefined)!;
    return answerRead(c, asked.operation, { input: readInput(c, asked), pulse: options.pulse });
  }) as never);
}

async function answerRead(
  c: Context<ApiEnv>,
  operation: AnyOperation,
  { input, pulse }: { input: Record<string, unknown>; pulse: Pulse },
): Promise<Response> {
  const { contentType, defaults } = operation.http!;
  const result = await pulse.call(operation, { ...defaults, ...input, ...c.get('caller').by });
  if (!operation.page) return c.json(result as object, 200);
  const { text, headers } = operation.page(result);
  return c.body(text, 200, { 'Content-Type': `${contentType}; charset=utf-8`, ...headers });
}

async function answerChange(
  c: Context<ApiEnv>,
  operation: AnyOperation,
  { input, ...options }: OperationRoutes & { input: Record<string, unknown> },
): Promise<Response> {
  const key = (c.req.valid('header' as never) as { 'idempotency-key'?: string })['idempotency-key'];
  const status = operation.http!.status!;
  const answer = await performChange(operation, {
    ...options,
    key,
    input: { ...input, ...c.get('caller').by },
  });
  return c.json(answer as object, status);
}

interface Places {
  path: [string, Field][];
  query: [string, Field][];
  body: [string, Field][];
  operation: AnyOperation;
}

function placesOf(operation: AnyOperation): Places {
  const { path, method } = operation.http!;
  const hasBody = method === 'post' || method === 'put' || method === 'patch';
  const fields = fieldsOn(operation.fields, 'http') as [string, Field][];
  const isInPath = ([key, field]: [string, Field]): boolean => path.includes(`{${httpName(key, field)}}`);
  const rest = fields.filter((entry) => !isInPath(entry));
  return {
    path: fields.filter(isInPath),
    query: hasBody ? [] : rest,
    body: hasBody ? rest : [],
    operation,
  };
}

function httpName(key: string, { pathName, wire }: Field): string {
  return pathName ?? wire ?? key;
}

function shapeOf(fields: [string, Field][], place: 'word' | 'body', { schemas }: AnyOperation) {
  return Object.fromEntries(
    fields.map(([key, field]) => [httpName(key, field), fieldSchema(field, place, schemas?.[key])]),
  );
}

function paramsOf({ path, operation }: Places) {
  return path.length === 0 ? {} : { params: z.object(shapeOf(path, 'word', operation)) };
}

function readRoute(views: readonly Places[]) {
  const [{ operation, ...first }] = views as [Places];
  const { path, says, contentType } = operation.http!;
  const shape = Object.assign({}, ...views.map((view) => shapeOf(view.query, 'word', view.operation)));
  const names = views.flatMap((view) => view.operation.http!.view ?? []);
  if (names.length > 0)
    shape.view = orEmpty(z.enum(names as [string, ...string[]])).describe(
      views
        .map((view) => `${view.operation.http!.view ?? 'Without it'}: ${view.operation.summary}`)
        .join(' '),
    );
  const query = Object.keys(shape).length === 0 ? {} : { query: z.object(shape) };
  const schemas = views.map((view) => view.operation.view!);
  const answer = operation.page
    ? { description: says, content: { [contentType!]: { schema: z.string() } } }
    : json(says, schemas.length === 1 ? schemas[0]! : z.union(schemas as [z.ZodType, z.ZodType]));
  return createRoute({
    method: 'get',
    path,
    summary: operation.summary,
    request: { ...paramsOf({ ...first, operation }), ...query },
    responses: { 200: answer, ...(first.path.length === 0 ? refusals(422) : refusals(404, 409, 422)) },
  });
}

function changeRoute(operation: AnyOperation, places: Places) {
  const { path, method, says, status } = operation.http!;
  const isRequired = places.body.some(([, field]) => field.isRequired) || operation.check !== undefined;
  const body = {
    required: isRequired,
    content: { 'application/json': { schema: bodySchema(places) } },
  };
  const missing = places.path.length === 0 ? refusals(400, 409, 413, 422) : refusals(400, 404, 409, 413, 422);
  return createRoute({
    method,
    path,
    summary: operation.summary,
    security: WITH_TOKEN,
    request: { ...paramsOf(places), headers: KeyHeaders, ...(method === 'delete' ? {} : { body }) },
    responses: { [status!]: json(says, operation.view!), ...missing },
  });
}

function bodySchema({ body, operation }: Places) {
  const { check, name, fields } = operation;
  const object = z.strictObject(shapeOf(body, 'body', operation));
  const checked = check
    ? object.superRefine((given, context) => {
        check(byKeys(given, body), (key, message) => {
          context.addIssue({ code: 'custom', path: [httpName(key, fields[key])], message });
        });
      })
    : object;
  return body.length === 0 ? checked : checked.openapi(schemaName(name));
}

/** `workflow approve` is `WorkflowApprove` in /openapi.json. */
function schemaName(name: string): string {
  return name.replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function readInput(c: Context, { path, query, body }: Places): Record<string, unknown> {
  const part = (name: string) => c.req.valid(name as never) as Record<string, unknown> | undefined;
  return {
    ...(path.length > 0 && byKeys(part('param'), path)),
    ...(query.length > 0 && byKeys(part('query'), query)),
    ...(body.length > 0 && byKeys(part('json'), body)),
  };
}

function byKeys(given: Record<string, unknown> = {}, fields: [string, Field][]): Record<string, unknown> {
  const named = fields.map(([key, field]) => [key, given[httpName(key, field)]] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}
