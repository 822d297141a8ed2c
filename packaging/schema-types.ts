/** JSON Schema as a type of TypeScript: as much of it as the schemas of this package use. */
export interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  $ref?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  prefixItems?: JsonSchema[];
}

export function typeOf(schema: JsonSchema): string {
  if (schema.$ref) return schema.$ref.split('/').at(-1)!;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return [...new Set(choices.map((choice) => grouped(typeOf(choice))))].join(' | ');
  if (schema.allOf) return schema.allOf.map((part) => grouped(typeOf(part))).join(' & ');
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return schema.properties ? objectType(schema) : 'unknown';
  return types.map((type) => plainType(type, schema)).join(' | ');
}

function plainType(type: string, schema: JsonSchema): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'object':
      return objectType(schema);
    case 'array':
      return schema.prefixItems
        ? `[${schema.prefixItems.map(typeOf).join(', ')}]`
        : `${grouped(typeOf(schema.items ?? {}))}[]`;
    default:
      return type;
  }
}

function objectType({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)}`,
  );
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  if (typeof additionalProperties === 'object') return `Record<string, ${typeOf(additionalProperties)}>`;
  return additionalProperties === false ? '{}' : 'Record<string, unknown>';
}

function grouped(type: string): string {
  return / [|&] /.test(type) && !/^\{[^{}]*\}$/.test(type) ? `(${type})` : type;
}
