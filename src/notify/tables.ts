/**
 * The outbox. A notification is written by a trigger, in the very transaction that writes its event: no path that stores
 * an event can forget it, and none that rolls back leaves one.
 */
import type { Generated } from 'kysely';
import type { Channel } from '../domain/notify.ts';
import type { ColumnTypes, TableModule } from '../store/migrations/types.ts';
import type { Json } from '../store/schema.ts';
import type { Db } from '../store/store.ts';

/** Where messages go out: a bot, a number, an address. Its settings name secrets, and hold none. */
interface AccountsTable {
  id: string;
  channel: Channel;
  settings: Json;
  /** Who delivers for it. */
  lease_owner: string | null;
  lease_until: string | null;
  token: number;
}

/** Who is told of a session. */
interface RoutesTable {
  session_id: string;
  account_id: string;
  destination: string;
}

export interface NotificationsTable {
  /** Those of one destination go out in this order. */
  number: Generated<number>;
  session_id: string;
  /** Of the event. */
  seq: number;
  account_id: string;
  destination: string;
  type: string;
  iteration: number | null;
  data: Json;
  /** `waiting`; `sent`; `skipped`: its channel leaves such events out; `failed`: refused, or given up. */
  status: string;
  attempts: number;
  run_at: string;
  provider_id: string | null;
  error: string | null;
  created_at: string;
  sent_at: string | null;
}

interface ChatUpdatesTable {
  channel: string;
  update_id: string;
  at: string;
}

/** Who has paired, beside those that the config allows. */
interface ChatMembersTable {
  account_id: string;
  sender: string;
  at: string;
}

interface ChatPairingsTable {
  code_hash: string;
  channel: string;
  until: string;
}

/** One process reads for a bot. */
interface ChatPollersTable {
  account_id: string;
  lease_owner: string | null;
  lease_until: string | null;
  token: number;
  position: string | null;
}

type NotifyTables = {
  chat_updates: ChatUpdatesTable;
  chat_members: ChatMembersTable;
  chat_pairings: ChatPairingsTable;
  chat_pollers: ChatPollersTable;
  notify_accounts: AccountsTable;
  notify_routes: RoutesTable;
  notifications: NotificationsTable;
};

/** The store, with these tables in its types. */
export function withNotifyTables(db: Db) {
  return db.withTables<NotifyTables>();
}

export const notifyTables: TableModule = { kind: 'notify', migrations: [outbox, chats] };

/** What somebody may want to hear of; what each channel leaves out is decided when it is sent. */
const TOLD = [
  ...['iteration.settled', 'experiment.status', 'experiment.surprised'],
  ...['session.blocked', 'session.paused', 'session.failed', 'session.aborted', 'session.ended'],
];

function outbox({ json, bigint, identity, dialect }: ColumnTypes): string[] {
  return [
    `CREATE TABLE notify_accounts (
      id text PRIMARY KEY,
      channel text NOT NULL,
      settings ${json} NOT NULL,
      lease_owner text,
      lease_until text,
      token ${bigint} NOT NULL
    )`,
    `CREATE TABLE notify_routes (
      session_id text NOT NULL REFERENCES pulse_sessions (id) ON DELETE CASCADE,
      account_id text NOT NULL REFERENCES notify_accounts (id),
      destination text NOT NULL,
      PRIMARY KEY (session_id, account_id, destination)
    )`,
    `CREATE TABLE notifications (
      number ${identity},
      session_id text NOT NULL,
      seq ${bigint} NOT NULL,
      account_id text NOT NULL,
      destination text NOT NULL,
      type text NOT NULL,
      iteration integer,
      data ${json} NOT NULL,
      status text NOT NULL,
      attempts integer NOT NULL,
      run_at text NOT NULL,
      provider_id text,
      error text,
      created_at text NOT NULL,
      sent_at text,
      UNIQUE (session_id, seq, account_id, destination)
    )`,
    `CREATE INDEX notifications_waiting ON notifications (account_id, destination, number)
      WHERE status = 'waiting'`,
    ...(dialect === 'sqlite' ? sqliteTrigger() : postgresTrigger()),
  ];
}

const INSERT = `INSERT INTO notifications
    (session_id, seq, account_id, destination, type, iteration, data, status, attempts, run_at, created_at)
  SELECT NEW.session_id, NEW.seq, account_id, destination, NEW.type, NEW.iteration, NEW.data,
    'waiting', 0, NEW.at, NEW.at
  FROM notify_routes WHERE session_id = NEW.session_id`;
const IS_TOLD = `NEW.type IN (${TOLD.map((type) => `'${type}'`).join(', ')})`;

function sqliteTrigger(): string[] {
  return [
    `CREATE TRIGGER notify_of_events AFTER INSERT ON pulse_events WHEN ${IS_TOLD} BEGIN ${INSERT}; END`,
  ];
}

function postgresTrigger(): string[] {
  return [
    `CREATE FUNCTION notify_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN ${INSERT}; RETURN NULL; END $$`,
    `CREATE TRIGGER notify_of_events AFTER INSERT ON pulse_events FOR EACH ROW WHEN (${IS_TOLD})
      EXECUTE FUNCTION notify_of_events()`,
  ];
}

/** What people write to Pulse. */
function chats({ bigint }: ColumnTypes): string[] {
  return [
    `CREATE TABLE chat_updates (
      channel text NOT NULL,
      update_id text NOT NULL,
      at text NOT NULL,
      PRIMARY KEY (channel, update_id)
    )`,
    'CREATE INDEX chat_updates_by_age ON chat_updates (at)',
    `CREATE TABLE chat_members (
      account_id text NOT NULL,
      sender text NOT NULL,
      at text NOT NULL,
      PRIMARY KEY (account_id, sender)
    )`,
    `CREATE TABLE chat_pairings (
      code_hash text PRIMARY KEY,
      channel text NOT NULL,
      until text NOT NULL
    )`,
    `CREATE TABLE chat_pollers (
      account_id text PRIMARY KEY,
      lease_owner text,
      lease_until text,
      token ${bigint} NOT NULL,
      position text
    )`,
    'CREATE INDEX notifications_by_message ON notifications (account_id, destination, provider_id)',
  ];
}
