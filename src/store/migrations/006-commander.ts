import type { ColumnTypes } from './types.ts';

/** The commander: tasks, comments, mailbox and the outbox for a commander elsewhere; and who finished research. */
export function commanderMigration({ json }: ColumnTypes): string[] {
  return [
    `CREATE TABLE commander_tasks (
      id text PRIMARY KEY,
      session_id text REFERENCES pulse_sessions (id),
      experiment integer,
      group_id text,
      description text NOT NULL,
      working_directory text,
      status text NOT NULL CHECK (status IN ('open','claimed','completed')),
      agent_name text,
      result text,
      external_id text,
      created_at text NOT NULL,
      claimed_at text,
      completed_at text
    )`,
    `CREATE UNIQUE INDEX one_commander_task_per_experiment ON commander_tasks (session_id, experiment)`,
    `CREATE INDEX commander_tasks_by_group ON commander_tasks (group_id)`,

    `CREATE TABLE commander_comments (
      task_id text NOT NULL REFERENCES commander_tasks (id),
      number integer NOT NULL,
      agent_name text NOT NULL,
      body text NOT NULL,
      created_at text NOT NULL,
      PRIMARY KEY (task_id, number)
    )`,

    `CREATE TABLE commander_messages (
      id text PRIMARY KEY,
      group_id text,
      from_agent text NOT NULL,
      to_agent text NOT NULL,
      body text NOT NULL,
      message_type text NOT NULL,
      created_at text NOT NULL
    )`,
    `CREATE INDEX commander_messages_by_group ON commander_messages (group_id)`,

    `CREATE TABLE commander_outbox (
      session_id text NOT NULL REFERENCES pulse_sessions (id),
      seq integer NOT NULL,
      key text NOT NULL UNIQUE,
      tool text NOT NULL,
      arguments ${json} NOT NULL,
      task_id text REFERENCES commander_tasks (id),
      status text NOT NULL CHECK (status IN ('pending','delivered','refused','skipped')),
      tries integer NOT NULL,
      note text,
      created_at text NOT NULL,
      ended_at text,
      PRIMARY KEY (session_id, seq)
    )`,

    `ALTER TABLE researches ADD COLUMN implementation text`,
    `ALTER TABLE researches ADD COLUMN finished_by text`,
    `ALTER TABLE researches ADD COLUMN finished_at text`,
  ];
}
