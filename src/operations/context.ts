import type { Redactor } from '../domain/redact.ts';
import type { Engine } from '../engine/engine.ts';
import type { Git } from '../git/exec.ts';
import type { Home } from '../home.ts';

/** What every operation is given. */
export interface Operations {
  engine: Engine;
  git: Git;
  home: Home;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
}
