/** Real outputs kept below fixtures/, with how they came about and what stands in them (fixtures/README.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IssueSource } from '../../../src/referee/output/issue.ts';
import { type ParsedOutput, parseOutput } from '../../../src/referee/output/parse.ts';

export interface KeptOutput {
  name: string;
  command: string;
  exit: number;
  errors: number;
  warnings: number;
  /** Ran, failed, skipped. */
  tests: readonly [number, number, number] | null;
}

/** Where in /repo the command ran, if not in its root. */
const FOLDERS: Record<string, string> = {
  go: 'go',
  cargo: 'rs',
  maven: 'mvn',
  gradle: 'gr',
  'mixed/pnpm-recursive-tsc': 'ws',
  'mixed/pnpm-recursive-vitest': 'ws',
  'mixed/turbo-tsc': 'ws',
};

export function textOf(name: string): string {
  return readFileSync(join(import.meta.dirname, 'fixtures', `${name}.txt`), 'utf8');
}

/** As the command that made it, or as one whose words tell nothing. */
export function parseKept(
  name: string,
  { command, source = 'Build' }: { command?: string; source?: IssueSource } = {},
): ParsedOutput {
  const kept = OUTPUTS.find((each) => each.name === name);
  if (kept === undefined) throw new Error(`no output called ${name}`);
  const folder = FOLDERS[name] ?? FOLDERS[name.split('/')[0]!];
  return parseOutput({
    command: command ?? kept.command,
    source,
    output: textOf(name),
    exit: kept.exit,
    root: '/repo',
    cwd: folder === undefined ? '/repo' : `/repo/${folder}`,
  });
}

/** One row an output; a dash where nothing was said about tests. */
export const OUTPUTS: readonly KeptOutput[] = readFileSync(
  join(import.meta.dirname, 'fixtures/outputs.tsv'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((row) => {
    const [name = '', exit, errors, warnings, ran, failed, skipped, command = ''] = row.split('\t');
    return {
      name,
      command,
      exit: Number(exit),
      errors: Number(errors),
      warnings: Number(warnings),
      tests: ran === '-' ? null : [Number(ran), Number(failed), Number(skipped)],
    };
  });
