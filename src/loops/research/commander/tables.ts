/** The commander's tables as rows. */
import type { ColumnType } from 'kysely';

export interface CommanderTasksTable {
  id: string;
  /** `null`: somebody else's, made by the tool `commander_task`. */
  session_id: string | null;
  experiment: number | null;
  group_id: string | null;
  description: string;
  working_directory: string | null;
  status: 'open' | 'claimed' | 'completed';
  agent_name: string | null;
  result: string | null;
  /** What the commander elsewhere calls it, text or a number, as JSON. */
  external_id: string | null;
  created_at: string;
  claimed_at: string | null;
  completed_at: string | null;
}

export interface CommanderCommentsTable {
  task_id: string;
  number: number;
  agent_name: string;
  body: string;
  created_at: string;
}

export interface CommanderMessagesTable {
  id: string;
  group_id: string | null;
  from_agent: string;
  to_agent: string;
  body: string;
  message_type: string;
  created_at: string;
}

export interface CommanderOutboxTable {
  session_id: string;
  seq: number;
  /** The same for every try, so that a receiver can recognise a repeated call. */
  key: string;
  tool: string;
  arguments: ColumnType<unknown, string, string>;
  /** Whose id over there is put in when it is sent. */
  task_id: string | null;
  status: 'pending' | 'delivered' | 'refused' | 'skipped';
  tries: number;
  note: string | null;
  created_at: string;
  ended_at: string | null;
}
