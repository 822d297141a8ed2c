import * as z from 'zod';

/** `startSha` is the column `start_sha`. */
type ColumnOf<K extends string> = K extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${ColumnOf<Rest>}`
  : '';
type Row<S extends z.ZodRawShape> = { [K in keyof S & string as ColumnOf<K>]: unknown };

/** A row as its view: the columns that the view names, in camelCase; where it says yes or no, 1 is yes. */
export function viewRow<S extends z.ZodRawShape>(
  view: z.ZodObject<S>,
  row: Row<S>,
): z.output<z.ZodObject<S>> {
  const columns = row as Record<string, unknown>;
  const entries = Object.entries(view.shape).map(([name, schema]) => {
    const value = columns[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    return [name, typeof value === 'number' && isBoolean(schema as z.ZodType) ? value === 1 : value];
  });
  return Object.fromEntries(entries);
}

function isBoolean(schema: z.ZodType): boolean {
  return (
    schema instanceof z.ZodBoolean ||
    (schema instanceof z.ZodNullable && schema.unwrap() instanceof z.ZodBoolean)
  );
}
