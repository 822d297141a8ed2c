/** What agents of a project need in order not to work against each other: its tables, with a version of their own. */
import type { Generated } from 'kysely';
import type { ColumnTypes, TableModule } from '../store/migrations/types.ts';
import type { Db } from '../store/store.ts';
import type { Importance } from './bounds.ts';

interface ProjectsTable {
  project_id: string;
  /** Counts up with every change that must come one after the other: the number that tells a later holder from an earlier. */
  fence: number;
}

interface AgentsTable {
  project_id: string;
  name: string;
  registered_at: string;
}

interface MessagesTable {
  /** Messages are listed in this order. */
  number: Generated<number>;
  id: string;
  project_id: string;
  thread_id: string;
  topic: string | null;
  sender_name: string;
  subject: string;
  body_md: string;
  importance: Importance;
  ack_required: number;
  reply_to: string | null;
  created_at: string;
}

interface RecipientsTable {
  message_number: number;
  project_id: string;
  agent_name: string;
  /** In the order in which they were named. */
  position: number;
  /** When the agent's own run was first given it. */
  fetched_at: string | null;
  acked_at: string | null;
}

export interface ReservationsTable {
  id: string;
  project_id: string;
  agent_name: string;
  /** A pattern, relative to the top of the repository. */
  path: string;
  exclusive: number;
  reason: string | null;
  fence: number;
  /** Whose run holds it; `null`: a person's, which only expires or is released. */
  session_id: string | null;
  attempt_id: string | null;
  /** The process that the run belongs to, as leases name it: when that is dead, the reservation is over. */
  owner: string | null;
  created_at: string;
  expires_at: string;
  released_at: string | null;
}

type CoordinationTables = {
  coordination_projects: ProjectsTable;
  mail_agents: AgentsTable;
  mail_messages: MessagesTable;
  mail_recipients: RecipientsTable;
  reservations: ReservationsTable;
};

/** The store, with these tables in its types. */
export function withCoordinationTables(db: Db) {
  return db.withTables<CoordinationTables>();
}

export const coordinationTables: TableModule = {
  kind: 'coordination',
  migrations: [mailAndReservations, ownersOfReservations],
};

function mailAndReservations({ bigint, identity, dialect }: ColumnTypes): string[] {
  return [
    `CREATE TABLE coordination_projects (project_id text PRIMARY KEY, fence ${bigint} NOT NULL)`,
    `CREATE TABLE mail_agents (
      project_id text NOT NULL,
      name text NOT NULL,
      registered_at text NOT NULL,
      PRIMARY KEY (project_id, name)
    )`,
    'CREATE INDEX mail_agents_by_name ON mail_agents (name)',
    `CREATE TABLE mail_messages (
      number ${identity},
      id text NOT NULL UNIQUE,
      project_id text NOT NULL,
      thread_id text NOT NULL,
      topic text,
      sender_name text NOT NULL,
      subject text NOT NULL,
      body_md text NOT NULL,
      importance text NOT NULL,
      ack_required integer NOT NULL,
      reply_to text,
      created_at text NOT NULL
    )`,
    'CREATE INDEX mail_messages_of_project ON mail_messages (project_id, number)',
    'CREATE INDEX mail_messages_of_topic ON mail_messages (project_id, topic, number)',
    'CREATE INDEX mail_messages_of_thread ON mail_messages (project_id, thread_id, number)',
    `CREATE TABLE mail_recipients (
      message_number ${bigint} NOT NULL REFERENCES mail_messages (number),
      project_id text NOT NULL,
      agent_name text NOT NULL,
      position integer NOT NULL,
      fetched_at text,
      acked_at text,
      PRIMARY KEY (message_number, agent_name)
    )`,
    'CREATE INDEX mail_recipients_of_agent ON mail_recipients (project_id, agent_name, message_number)',
    `CREATE INDEX mail_recipients_unfetched ON mail_recipients (project_id, agent_name, message_number)
      WHERE fetched_at IS NULL`,
    ...wordsTable(dialect),
    `CREATE TABLE reservations (
      id text PRIMARY KEY,
      project_id text NOT NULL,
      agent_name text NOT NULL,
      path text NOT NULL,
      exclusive integer NOT NULL,
      reason text,
      fence ${bigint} NOT NULL,
      session_id text,
      attempt_id text,
      created_at text NOT NULL,
      expires_at text NOT NULL,
      released_at text
    )`,
    'CREATE INDEX reservations_held ON reservations (project_id, agent_name) WHERE released_at IS NULL',
    'CREATE INDEX reservations_of_session ON reservations (session_id) WHERE released_at IS NULL',
    'CREATE INDEX reservations_by_end ON reservations (project_id, expires_at)',
  ];
}

function ownersOfReservations(): string[] {
  return ['ALTER TABLE reservations ADD COLUMN owner text'];
}

/** The words of each message, folded: both databases are given words alone, so that both find the same. */
function wordsTable(dialect: ColumnTypes['dialect']): string[] {
  if (dialect === 'sqlite') {
    return [
      `CREATE VIRTUAL TABLE mail_words USING fts5(
        words, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0')`,
    ];
  }
  return [
    'CREATE TABLE mail_words (number bigint PRIMARY KEY, words tsvector NOT NULL)',
    'CREATE INDEX mail_words_found ON mail_words USING gin (words)',
  ];
}
