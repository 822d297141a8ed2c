import { listOperations } from '../loops/table.ts';
import { type Fields, wireName } from '../operations/fields.ts';

/** Hints are written for the command line; an assistant has the same options under their fields' names. */
export function inToolWords(hint: string): string {
  return hint.replace(/--([a-z][a-z-]*)/g, (flag, name: string) => fieldOfOption(name) ?? flag);
}

function fieldOfOption(name: string): string | undefined {
  for (const { fields } of listOperations()) {
    for (const [key, field] of Object.entries(fields as Fields)) {
      if (field.option?.split(' ')[0] === name) return wireName(key, field);
    }
  }
}
