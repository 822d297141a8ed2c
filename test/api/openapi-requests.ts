/** Requests made from the OpenAPI document: right ones, the same with something changed, and plain garbage. */
import fc from 'fast-check';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  $ref?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

interface Operation {
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: JsonSchema }[];
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } };
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
}

/** `known` gives fields and parameters, by name, values that lead somewhere; `authorization` the token to use at times. */
export function requestsOf(
  document: OpenApiDocument,
  { known, authorization }: { known: Record<string, fc.Arbitrary<unknown>>; authorization: string },
): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );

  const valueFor = (schema: JsonSchema, name = ''): fc.Arbitrary<unknown> => {
    const wish = known[name];
    if (wish) return fc.oneof({ weight: 4, arbitrary: wish }, bySchema(schema));
    return bySchema(schema);
  };

  function bySchema(schema: JsonSchema): fc.Arbitrary<unknown> {
    if (schema.$ref) return valueFor(document.components.schemas[schema.$ref.split('/').at(-1)!]!);
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices) return fc.oneof(...choices.map((choice) => valueFor(choice)));
    if (schema.enum) return fc.constantFrom(...schema.enum);
    const types = [schema.type ?? []].flat();
    return fc.oneof(...types.map((type) => ofType(type, schema)));
  }

  function ofType(type: string, schema: JsonSchema): fc.Arbitrary<unknown> {
    const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
    if (type === 'null') return fc.constant(null);
    if (type === 'boolean') return fc.boolean();
    if (type === 'integer') return fc.maxSafeInteger().map((n) => Math.min(Math.max(n, minimum), maximum));
    if (type === 'number')
      return fc.double({ min: Math.max(minimum, 0.01), max: Math.min(maximum, 1e9), noNaN: true });
    if (type === 'array') return fc.array(valueFor(schema.items!), { maxLength: 3 });
    if (type === 'object') return ofObject(schema);
    if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern));
    return fc.string({
      unit: 'grapheme',
      minLength: schema.minLength ?? 0,
      maxLength: Math.min(schema.maxLength ?? 40, 40),
    });
  }

  /** What is not required is mostly left out: with everything in, hardly a request would be right as a whole. */
  function ofObject({ properties = {}, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
    const absent = { weight: 5, arbitrary: fc.constant(undefined) };
    const fields = Object.entries(properties).map(([name, field]) => {
      const value = valueFor(field, name);
      return [
        name,
        required.includes(name) ? value : fc.oneof(absent, { weight: 1, arbitrary: value }),
      ] as const;
    });
    return fc.record(Object.fromEntries(fields)).map((object) => JSON.parse(JSON.stringify(object)));
  }

  function right({ path, method, operation }: (typeof operations)[number]): fc.Arbitrary<FuzzRequest> {
    const parameters = operation.parameters ?? [];
    const schema = operation.requestBody?.content['application/json'].schema;
    const values = fc.record(
      Object.fromEntries(parameters.map(({ name, schema }) => [name, valueFor(schema, name)])),
    );
    return fc
      .record({
        values,
        given: fc.infiniteStream(fc.boolean()),
        body: schema ? valueFor(schema) : fc.constant(undefined),
        isTrusted: fc.boolean(),
      })
      .map(({ values, given, body, isTrusted }) => {
        const among = (place: string) =>
          parameters
            .filter((p) => p.in === place && (p.required || given.next().value))
            .map(({ name }) => [name, String(values[name])] as const);
        const query = new URLSearchParams(Object.fromEntries(among('query'))).toString();
        const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
          encodeURIComponent(String(values[name]).toWellFormed()),
        );
        return {
          method,
          path: `${filled}${query ? `?${query}` : ''}`,
          headers: {
            ...Object.fromEntries(among('header').map(([name, value]) => [name, headerText(value)])),
            ...(isTrusted ? { authorization } : {}),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          body: body === undefined ? undefined : JSON.stringify(body),
        };
      });
  }

  const valid = fc.oneof(
    ...operations.map((operation) => ({
      weight: operation.method === 'POST' ? 4 : 1,
      arbitrary: right(operation),
    })),
  );
  const mutated = fc.tuple(valid, mutation()).map(([request, change]) => change(request));
  const garbage = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
    path: fc
      .array(fc.oneof(fc.constantFrom('api', 'pulse', 'start', 'events', '..', '%00', ''), fc.webSegment()), {
        maxLength: 6,
      })
      .map((parts) => `/${parts.join('/')}`),
    headers: fc.dictionary(fc.stringMatching(/^[a-z][a-z-]{0,20}$/), fc.string().map(headerText), {
      maxKeys: 4,
    }),
    body: fc.option(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), { nil: undefined }),
  });
  return fc.oneof(
    { weight: 4, arbitrary: valid },
    { weight: 4, arbitrary: mutated },
    { weight: 2, arbitrary: garbage },
  );
}

function mutation(): fc.Arbitrary<(request: FuzzRequest) => FuzzRequest> {
  const junk = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\0', '\ud800', -1, 1e308, null, [], {}, '9'.repeat(400)),
  );
  return fc.oneof(
    fc.tuple(fc.nat(), junk).map(
      ([at, value]) =>
        (request: FuzzRequest) =>
          withBody(request, (body) => replaceField(body, at, value)),
    ),
    fc.tuple(fc.string(), junk).map(
      ([name, value]) =>
        (request: FuzzRequest) =>
          withBody(request, (body) => ({ ...body, [name]: value })),
    ),
    junk.map((value) => (request: FuzzRequest) => ({ ...request, body: JSON.stringify(value) })),
    fc.nat().map((at) => (request: FuzzRequest) => ({
      ...request,
      body: request.body?.slice(0, at % (request.body.length + 1)),
    })),
    fc
      .constantFrom(
        'text/plain',
        'application/xml',
        '',
        'application/json; charset=utf-16',
        'multipart/form-data',
      )
      .map((type) => (request: FuzzRequest) => ({
        ...request,
        headers: { ...request.headers, 'content-type': type },
      })),
    fc
      .constantFrom('evil.example', 'localhost:99999', '[::1', 'localhost', '127.0.0.1:1')
      .map((host) => (request: FuzzRequest) => ({ ...request, headers: { ...request.headers, host } })),
    fc
      .constantFrom('null', 'http://evil.example', 'http://localhost', 'x')
      .map((origin) => (request: FuzzRequest) => ({ ...request, headers: { ...request.headers, origin } })),
    fc.string().map((text) => (request: FuzzRequest) => ({
      ...request,
      headers: { ...request.headers, authorization: headerText(`Bearer ${text}`) },
    })),
    fc
      .tuple(fc.constantFrom('limit', 'status', 'cursor', 'after', 'x'), fc.string())
      .map(([name, value]) => (request: FuzzRequest) => ({
        ...request,
        path: `${request.path}${request.path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value.toWellFormed())}`,
      })),
    fc
      .constantFrom('GET', 'POST', 'PUT', 'DELETE')
      .map((method) => (request: FuzzRequest) => ({ ...request, method })),
  );
}

function withBody(request: FuzzRequest, change: (body: Record<string, unknown>) => unknown): FuzzRequest {
  if (request.body === undefined) return request;
  return { ...request, body: JSON.stringify(change(JSON.parse(request.body))) };
}

function replaceField(body: Record<string, unknown>, at: number, value: unknown): unknown {
  const names = Object.keys(body);
  return names.length === 0 ? value : { ...body, [names[at % names.length]!]: value };
}

/** What a header may carry at all. */
function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').trim();
}
