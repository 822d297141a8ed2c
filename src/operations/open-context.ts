/** What finds turns and code by what they are about. */

import { loadConfig } from '../config.ts';
import {
  type CodeIndexes,
  createCodeIndexes,
  type IndexedWorktree,
} from '../context/code-index/code-indexes.ts';
import { createTurnEmbeddings } from '../context/embedding/turn-embeddings.ts';
import { createTurnMeaning, type TurnMeaning } from '../context/search/turn-meaning.ts';
import type { EmbedderSettings } from '../domain/embedder.ts';
import type { Redactor } from '../domain/redact.ts';
import type { Git } from '../git/exec.ts';
import { listProjectFiles } from '../git/project-files.ts';

export interface ContextParts {
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  /** Where what was learnt of code is kept. */
  folder: string;
  debug(text: string): void;
}

/** The caller closes both. */
export function openContext({ git, environment, redactor, folder, debug }: ContextParts): {
  indexes: CodeIndexes;
  meaning: TurnMeaning;
} {
  const list = (indexed: IndexedWorktree) => listProjectFiles(git, indexed);
  const embeddings = createTurnEmbeddings({
    ...{ environment, redact: redactor.redact, debug },
    settings: () => embedderOf(environment),
  });
  return {
    indexes: createCodeIndexes({ list, folder, debug }),
    meaning: createTurnMeaning({ embeddings, debug }),
  };
}

/** The user's own, for all projects: texts of each of them go to that service. `null`: there is none. */
export async function embedderOf(environment: NodeJS.ProcessEnv): Promise<EmbedderSettings | null> {
  return (await loadConfig(null, environment)).values.embedder ?? null;
}
