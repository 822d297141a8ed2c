/** The code of a checkout, by what it is about. */
import { loadConfig } from '../../config.ts';
import { PulseError } from '../../domain/errors.ts';
import { searchCheckout } from '../../engine/run/code-search.ts';
import type { Operations } from '../../operations/context.ts';
import type { InputOf } from '../../operations/fields.ts';
import { findProject } from '../../operations/named-project.ts';
import { heldOutBelow } from '../../referee/held-out.ts';
import type * as definitions from './definitions.ts';

export interface FoundCode {
  index: 'lexical' | 'partial' | 'ready' | 'stale';
  results: { path: string; line: number; text: string }[];
}

export async function searchCode(
  operations: Operations,
  {
    project_key,
    query,
    limit = 10,
    wait_ms: patienceMs,
  }: InputOf<(typeof definitions)['searchCode']['fields']>,
): Promise<FoundCode> {
  const { indexes, environment, redactor } = operations;
  const { id: project, root } = await findProject(operations, project_key);
  if (root === undefined)
    throw new PulseError('usage', 'Code is searched in a folder of a repository.', {
      hint: 'Name the folder instead of the id.',
    });
  const { values } = await loadConfig(root, environment);
  const except = await heldOutBelow(root, values.heldOut ?? []);
  const found = await searchCheckout(
    { indexes, environment },
    { worktree: root, except, project, query, limit, patienceMs },
  );
  const results = found.hits.map(({ path, line, text }) => ({ path, line, text: redactor.redact(text) }));
  return { index: found.index, results };
}
