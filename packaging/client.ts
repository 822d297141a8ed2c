/**
 * Writes src/client/generated: the routes of the table of operations, and the types of what they take and answer,
 * from the same schemas that check requests. `node packaging/client.ts` after a change; a test says when it is due.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { createApi } from '../src/api/api.ts';
import { byAddress } from '../src/api/operation-route.ts';
import { listOperations, OPERATIONS } from '../src/loops/table.ts';
import { type Fields, fieldsOn } from '../src/operations/fields.ts';
import { type AnyOperation, isOperation, type OperationGroup } from '../src/operations/operation.ts';
import type { Pulse } from '../src/pulse.ts';
import { type JsonSchema, typeOf } from './schema-types.ts';

interface Route {
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: JsonSchema }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, { content?: Record<string, { schema: JsonSchema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Route>>;
  components: { schemas: Record<string, JsonSchema> };
}

const HEAD =
  '/** Made by packaging/client.ts from the table of operations: change that, and run `npm run generate`. */';

/** The files by their names. */
export async function generateClient(): Promise<Record<string, string>> {
  const document = await readDocument();
  const names = Object.keys(document.components.schemas).sort();
  const types = names.map((name) => `export type ${name} = ${typeOf(document.components.schemas[name]!)};`);
  const methods = methodTypes(OPERATIONS, document, '');
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(methods));
  const files = {
    'schemas.ts': types,
    'operations.ts': [
      "import type { Call } from '../client.ts';",
      `import type { ${used.join(', ')} } from './schemas.ts';`,
      '',
      '/** One method for each operation that is on HTTP, by the names of the table. */',
      `export interface Operations ${methods}`,
    ],
    'routes.ts': [
      '/** The method, the path, and the query that chooses among views of one address. */',
      'export type Route = readonly [method: string, path: string, query: Readonly<Record<string, string>>];',
      'export interface Routes { readonly [name: string]: Route | Routes }',
      `export const ROUTES: Routes = ${routesOf(OPERATIONS)};`,
    ],
  };
  return Object.fromEntries(
    Object.entries(files).map(([name, lines]) => [name, `${[HEAD, ...lines].join('\n')}\n`]),
  );
}

/** No store is needed to say what there is. */
async function readDocument(): Promise<Document> {
  const pulse = { operations: listOperations(), access: {} } as unknown as Pulse;
  const app = createApi({ pulse, token: 'none', runSession: () => undefined });
  return (await (await app.request('/openapi.json')).json()) as Document;
}

function entriesOf(group: OperationGroup): [string, AnyOperation | OperationGroup][] {
  return Object.entries(group).filter(([, entry]) =>
    isOperation(entry) ? entry.http !== undefined : entriesOf(entry).length > 0,
  );
}

function methodTypes(group: OperationGroup, document: Document, indent: string): string {
  const inner = `${indent}  `;
  const lines = entriesOf(group).map(([name, entry]) =>
    isOperation(entry)
      ? `${inner}/** ${entry.summary} */\n${inner}${name}(${inputOf(entry, document)}): Promise<${answerOf(entry, document)}>;`
      : `${inner}${name}: ${methodTypes(entry, document, inner)};`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function routeOf({ http }: AnyOperation, document: Document): Route {
  return document.paths[http!.path]![http!.method]!;
}

function inputOf(operation: AnyOperation, document: Document): string {
  const { parameters = [], requestBody } = routeOf(operation, document);
  const own = fieldsOn(operation.fields as Fields, 'http').map(
    ([key, { pathName, wire }]) => pathName ?? wire ?? key,
  );
  const given = parameters.filter((each) => each.in !== 'header' && own.includes(each.name));
  const fields = given.map(
    ({ name, required, schema }) => `${name}${required ? '' : '?'}: ${queryType(schema)}`,
  );
  const body = requestBody?.content['application/json']?.schema;
  const parts = [
    ...(fields.length > 0 ? [`{ ${fields.join('; ')} }`] : []),
    ...(body && typeOf(body) !== '{}' ? [typeOf(body)] : []),
  ];
  const isOptional = !given.some(({ required }) => required) && (!body || requestBody?.required !== true);
  const input = parts.length === 0 ? 'Record<never, never>' : parts.join(' & ');
  return `input${isOptional ? '?' : ''}: ${input}, call?: Call`;
}

/** What the schema reads from text may be given as what it means. */
function queryType(schema: JsonSchema): string {
  const type = typeOf(schema);
  return type === '"true" | "false"' ? 'boolean' : type;
}

function answerOf(operation: AnyOperation, document: Document): string {
  const [content] = Object.entries(routeOf(operation, document).responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, answer]) => answer.content);
  const json = content?.['application/json']?.schema;
  if (!json) return 'string';
  const views = byAddress(listOperations()).find((all) => all.includes(operation))!;
  return views.length === 1 ? typeOf(json) : typeOf(json.anyOf![views.indexOf(operation)]!);
}

function routesOf(group: OperationGroup): string {
  const entries = entriesOf(group).map(([name, entry]) => {
    if (!isOperation(entry)) return `${name}: ${routesOf(entry)}`;
    const { method, path, view } = entry.http!;
    const query = view === undefined ? {} : { view };
    return `${name}: ${JSON.stringify([method.toUpperCase(), path, query])}`;
  });
  return `{\n${entries.join(',\n')}\n}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [name, text] of Object.entries(await generateClient()))
    writeFileSync(new URL(`../src/client/generated/${name}`, import.meta.url), text);
