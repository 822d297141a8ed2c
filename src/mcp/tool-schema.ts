/** The input of a tool as a schema: of one operation, or of several that share the tool under a field `operation`. */
import * as z from 'zod';
import { fieldSchema } from '../operations/field-schema.ts';
import { type Field, fieldsOn, wireName } from '../operations/fields.ts';
import type { AnyOperation } from '../operations/operation.ts';

type Given = Record<string, unknown>;

export function toolSchema(variants: readonly AnyOperation[]): z.ZodType<Given> {
  const known = schemas.get(variants[0]!.name);
  if (known) return known;
  const made = variants.length === 1 ? ownSchema(variants[0]!) : sharedSchema(variants);
  schemas.set(variants[0]!.name, made);
  return made;
}

/** Made once: a server lives for one request. */
const schemas = new Map<string, z.ZodType<Given>>();

function ownSchema(operation: AnyOperation): z.ZodType<Given> {
  const shape = fieldsOn(operation.fields, 'mcp').map(([key, field]) => [
    wireName(key, field),
    fieldSchema(field, 'tool', operation.schemas?.[key]),
  ]);
  return z.strictObject(Object.fromEntries(shape)).superRefine((given: Given, context) => {
    operation.check?.(inputOf(operation, given), (key, message) => {
      context.addIssue({ code: 'custom', path: [wireName(key, operation.fields[key])], message });
    });
  });
}

/** One object, not a union: not every model's API takes one at the top. What is missing is told when it is needed. */
function sharedSchema(variants: readonly AnyOperation[]): z.ZodType<Given> {
  const names = variants.map(({ tool }) => tool!.variant!);
  const users = new Map<string, { field: Field; names: string[] }>();
  for (const { fields, tool } of variants) {
    for (const [key, field] of fieldsOn(fields, 'mcp')) {
      const known = users.get(key) ?? { field: { ...field, isRequired: false }, names: [] };
      users.set(key, { ...known, names: [...known.names, tool!.variant!] });
    }
  }
  const shape = [...users].map(([key, { field, names: of }]) => [
    key,
    fieldSchema({ ...field, help: `${of.join(', ')}: ${field.help}` }, 'tool'),
  ]);
  return z
    .strictObject({ operation: z.enum(names as [string, ...string[]]), ...Object.fromEntries(shape) })
    .superRefine((given: Given, context) => {
      const { fields } = variants.find(({ tool }) => tool!.variant === given.operation)!;
      for (const [key, { isRequired }] of fieldsOn(fields, 'mcp')) {
        if (!isRequired || given[key] !== undefined) continue;
        context.addIssue({ code: 'custom', path: [key], message: `${given.operation} needs it` });
      }
    });
}

/** Which operation a checked call means, and its input by the keys of its fields. */
export function readInput(
  variants: readonly AnyOperation[],
  given: Given,
): { operation: AnyOperation; input: Given } {
  const operation = variants.find(({ tool }) => tool!.variant === given.operation) ?? variants[0]!;
  return { operation, input: inputOf(operation, given) };
}

function inputOf({ fields }: AnyOperation, given: Given): Given {
  const named = fieldsOn(fields, 'mcp').map(([key, field]) => [key, given[wireName(key, field)]]);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}
