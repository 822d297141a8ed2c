/** What the modules' own tables need, on either database. */
import { PulseError } from '../../domain/errors.ts';
import type { ColumnTypes, TableModule } from './types.ts';

export interface ModuleStep {
  kind: string;
  statements: string[];
  version: number;
}

/** The statements that bring each module from its version to the one that it has here; nothing where it is there. */
export function moduleSteps(
  modules: readonly TableModule[],
  { versions, types }: { versions: ReadonlyMap<string, number>; types: ColumnTypes },
): ModuleStep[] {
  return modules.flatMap(({ kind, migrations = [] }) => {
    const version = versions.get(kind) ?? 0;
    if (version > migrations.length)
      throw new PulseError('store_newer', `The tables of ${kind} were written by a newer Pulse.`, {
        hint: 'Update Pulse on this host.',
      });
    const statements = migrations.slice(version).flatMap((migration) => migration(types));
    return statements.length === 0 ? [] : [{ kind, statements, version: migrations.length }];
  });
}
