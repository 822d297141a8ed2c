import type { CodeIndexes } from '../context/code-index/code-indexes.ts';
import type { TurnMeaning } from '../context/search/turn-meaning.ts';
import type { Redactor } from '../domain/redact.ts';
import type { Engine } from '../engine/engine.ts';
import type { Sandboxes } from '../engine/run/run-sandbox.ts';
import type { Git } from '../git/exec.ts';
import type { Home } from '../home.ts';
import type { Db } from '../store/store.ts';

/** What every operation is given. */
export interface Operations {
  engine: Engine;
  git: Git;
  home: Home;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
  /** Of every project's turns. */
  meaning: TurnMeaning;
  /** Of every checkout's code. */
  indexes: CodeIndexes;
}

/** Written together with the operation's own change, or not at all; what it throws undoes both. */
export type TransactionHook = (db: Db, sessionId: string) => Promise<void>;
