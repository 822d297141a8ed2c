/** A field that takes what a file holds: the object, or the text of it as YAML or JSON. */
import { parse } from 'yaml';
import * as z from 'zod';

export function orYaml<T extends z.ZodType>(schema: T) {
  return z.preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return parse(value) as unknown;
    } catch (error) {
      const [why] = (error as Error).message.split('\n');
      context.addIssue({ code: 'custom', message: `is neither YAML nor JSON: ${why}` });
      return z.NEVER;
    }
  }, schema);
}
