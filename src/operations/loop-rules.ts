import type { Config } from '../config.ts';
import type { IdSource } from '../domain/ids.ts';
import type { Session, SessionChoices, SessionSettings } from '../store/sessions.ts';
import type { Db } from '../store/store.ts';
import type { Operations } from './context.ts';

/** What a loop says about the operations that every session has. */
export interface LoopRules {
  /** How many iterations there are is a person's choice; else they follow from a plan, which may grow. */
  countsIterations?: boolean;
  /** Only a time limit that somebody has set binds. */
  hasNoDefaultTimeLimit?: boolean;
  /** A stop is more than a row: without a runner the session is driven up to there. */
  isStoppedByRunner?: boolean;
  /** What it keeps of the config. */
  settings?(values: Config['values']): Partial<SessionSettings>;
  /** Throws where a choice does not apply to the session. */
  refuseChoices?(operations: Operations, session: Session, asked: SessionChoices): Promise<void>;
  /** The claim that waits for a person, where that is one's that works for the session. */
  findClaim?(db: Db, session: Session): Promise<{ session: Session; commit: string } | null>;
  /** A person has decided about the changed checks of a claim; in the transaction of that decision. */
  decideChecks?(
    db: Db,
    claimant: Session,
    decision: { verdict: 'accepted' | 'rejected'; text?: string; ids: IdSource },
  ): Promise<void>;
  /** Branches that it has made beside the session's own. */
  branches?(db: Db, session: Session): Promise<string[]>;
  /** What a resume changes of its own rows; `null`: nothing. */
  changeOnResume?(operations: Operations, resume: LoopResume): Promise<LoopChange | null>;
}

export interface LoopResume {
  session: Session;
  asked: SessionChoices;
  config: Config;
}

export interface LoopChange {
  /** By its name, for the event. */
  changed: Record<string, { from: unknown; to: unknown }>;
  /** In the transaction of the resume. */
  apply(db: Db): Promise<void>;
}
