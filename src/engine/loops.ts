/** The loops that an engine drives, and the kinds of work that they bring. */
import type { TurnMeaning } from '../context/search/turn-meaning.ts';
import { PulseError } from '../domain/errors.ts';
import type { IdSource } from '../domain/ids.ts';
import type { Redactor } from '../domain/redact.ts';
import type { Git } from '../git/exec.ts';
import type { Migration } from '../store/migrations/types.ts';
import type { Store } from '../store/store.ts';
import type { Loop } from './loop.ts';
import type { Doorbell, Referee } from './ports.ts';
import { secondOpinionWork } from './referee/second-opinion.ts';
import type { Sandboxes } from './run/run-sandbox.ts';
import { createWorkKinds, type WorkKinds } from './work.ts';

export interface Loops {
  of(session: { kind: string }): Loop;
  /** `null` where this process does not have the session's loop. */
  find(session: { kind: string }): Loop | null;
  readonly works: WorkKinds;
}

/** What a loop is made from. */
export interface LoopHost {
  store: Store;
  git: Git;
  environment: NodeJS.ProcessEnv;
  redactor: Redactor;
  sandboxes: Sandboxes;
  referee: Referee;
  ids: IdSource;
  bell: Doorbell;
  /** Turns by what they are about; without it, by their words alone. */
  meaning?: TurnMeaning;
  debug(text: string): void;
}

/** A loop as the list of loops names it. It is light: what runs sessions is loaded when it is opened. */
export interface LoopModule {
  readonly kind: string;
  /** Its tables. In order, never changed once released. */
  readonly migrations?: readonly Migration[];
  /** Stand-ins for programs that agents may look for: by name, the script that Node.js runs, which is told the name. */
  readonly programs?: Readonly<Record<string, string>>;
  open(host: LoopHost): Promise<Loop>;
}

export function createLoops(loops: readonly Loop[]): Loops {
  const byKind = new Map(loops.map((loop) => [loop.kind, loop]));
  return {
    works: createWorkKinds([...loops.flatMap((loop) => loop.works), secondOpinionWork]),
    find: ({ kind }) => byKind.get(kind) ?? null,
    of({ kind }) {
      const loop = byKind.get(kind);
      if (!loop) throw new PulseError('internal_error', `No loop drives sessions of kind ${kind}.`);
      return loop;
    },
  };
}
