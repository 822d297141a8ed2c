/** The tables of what is done after sessions. */
import type { Json } from './schema.ts';

export interface ChoresTable {
  name: string;
  lease_owner: string | null;
  lease_until: string | null;
  done_at: string | null;
}

export interface PullRequestsTable {
  /** The session whose work it offers. */
  session_id: string;
  address: string;
  state: 'open' | 'merged' | 'closed' | 'over';
  /** How many follow-ups it may have, and has had. */
  rounds: number;
  rounds_used: number;
  watched_until: string;
  /** What was seen of it already: ids of comments and of failed jobs. */
  seen: Json;
  /** The newest follow-up. */
  follow_up: string | null;
  /** What of it was pushed last. */
  pushed_sha: string | null;
  trouble: string | null;
  look_at: string;
  lease_owner: string | null;
  lease_until: string | null;
}
