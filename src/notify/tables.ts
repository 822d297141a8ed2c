/**
 * The outbox. A notification is written by a trigger, in the very transaction that writes its event: no path that stores
 * an event can forget it, and none that rolls back leaves one.
 */
import type { Generated } from 'kysely';
import type { Channel } from '../domain/channels.ts';
import type { ColumnTypes, TableModule } from '../store/migrations/types.ts';
import type { Json, JsonOrNull } from '../store/schema.ts';
import type { Db } from '../store/store.ts';
import type { Gathering } from './quiet/manner.ts';

/** Where messages go out: a bot, a number, an address. Its settings name secrets, and hold none. */
interface AccountsTable {
  id: string;
  channel: Channel;
  settings: Json;
  /** Who delivers for it. */
  lease_owner: string | null;
  lease_until: string | null;
  token: number;
  /** Since when its address says that it is gone; `null`: it takes messages. */
  gone_at: string | null;
}

/** Who is told of a session. */
interface RoutesTable {
  session_id: string;
  account_id: string;
  destination: string;
  /** When it wants to be told; `null`: at once. */
  manner: JsonOrNull;
  /** What its messages are held together by, in the words of its channel. */
  thread: string | null;
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
  /**
   * `waiting`; `sent`; `skipped`: its channel leaves such events out; `failed`: refused, or given up; `planned`: it will
   * carry others at `run_at`; `gathered`: another carries it.
   */
  status: string;
  attempts: number;
  /** How often it was refused, without another answer in between. */
  refusals: Generated<number>;
  run_at: string;
  provider_id: string | null;
  error: string | null;
  created_at: string;
  sent_at: string | null;
  /** What it carries: `digest`, `rollup`. */
  gathers: Gathering | null;
  gathered_in: number | null;
}

/** A button of a message. It counts once, for the stop that the message told of. */
interface ActionsTable {
  id: string;
  notification: number;
  session_id: string;
  seq: number;
  account_id: string;
  action: string;
  used_by: string | null;
  used_at: string | null;
  created_at: string;
}

/** Words that were asked for after a button was pressed. Each press asks again, and none of them is forgotten. */
interface PromptsTable {
  id: string;
  account_id: string;
  action_id: string;
  chat: string;
  /** A topic in it. */
  thread: string | null;
  sender: string;
  /** The service's name of the message that asks; `null`: it is not known to have been sent. */
  message: string | null;
  at: string;
  /** Somebody has given words to it: plain words are not for it any longer. */
  closed_at: string | null;
}

interface ChatUpdatesTable {
  /** Of the account: two bots count by themselves. */
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
  notify_actions: ActionsTable;
  chat_prompts: PromptsTable;
};

/** The store, with these tables in its types. */
export function withNotifyTables(db: Db) {
  return db.withTables<NotifyTables>();
}

export const notifyTables: TableModule = {
  kind: 'notify',
  migrations: [outbox, chats, gatherings, buttons, prompts],
};

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
    ...(dialect === 'sqlite' ? sqliteTrigger(TOLD) : postgresTrigger(TOLD)),
  ];
}

const INSERT = `INSERT INTO notifications
    (session_id, seq, account_id, destination, type, iteration, data, status, attempts, run_at, created_at)
  SELECT NEW.session_id, NEW.seq, account_id, destination, NEW.type, NEW.iteration, NEW.data,
    'waiting', 0, NEW.at, NEW.at
  FROM notify_routes WHERE session_id = NEW.session_id`;
const isTold = (types: readonly string[]) => `NEW.type IN (${types.map((type) => `'${type}'`).join(', ')})`;

function sqliteTrigger(types: readonly string[]): string[] {
  return [
    `CREATE TRIGGER notify_of_events AFTER INSERT ON pulse_events WHEN ${isTold(types)} BEGIN ${INSERT}; END`,
  ];
}

function postgresTrigger(types: readonly string[]): string[] {
  return [
    `CREATE OR REPLACE FUNCTION notify_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN ${INSERT}; RETURN NULL; END $$`,
    `CREATE TRIGGER notify_of_events AFTER INSERT ON pulse_events FOR EACH ROW WHEN (${isTold(types)})
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

/** What is told together with others. */
function gatherings({ json, bigint }: ColumnTypes): string[] {
  return [
    `ALTER TABLE notify_routes ADD COLUMN manner ${json}`,
    'ALTER TABLE notifications ADD COLUMN gathers text',
    `ALTER TABLE notifications ADD COLUMN gathered_in ${bigint}`,
    `CREATE INDEX notifications_planned ON notifications (account_id, destination) WHERE status = 'planned'`,
    'CREATE INDEX notifications_gathered ON notifications (gathered_in) WHERE gathered_in IS NOT NULL',
  ];
}

/** Messages with buttons, which say afterwards who has answered. */
function buttons({ bigint, dialect }: ColumnTypes): string[] {
  const types = [...TOLD, 'session.resumed'];
  return [
    'ALTER TABLE notify_routes ADD COLUMN thread text',
    `CREATE TABLE notify_actions (
      id text PRIMARY KEY,
      notification ${bigint} NOT NULL,
      session_id text NOT NULL REFERENCES pulse_sessions (id) ON DELETE CASCADE,
      seq ${bigint} NOT NULL,
      account_id text NOT NULL,
      action text NOT NULL,
      prompt text,
      used_by text,
      used_at text,
      created_at text NOT NULL,
      UNIQUE (notification, action)
    )`,
    'CREATE INDEX notify_actions_by_session ON notify_actions (session_id)',
    'CREATE INDEX notify_actions_by_prompt ON notify_actions (account_id, prompt) WHERE prompt IS NOT NULL',
    ...(dialect === 'sqlite'
      ? ['DROP TRIGGER notify_of_events', ...sqliteTrigger(types)]
      : ['DROP TRIGGER notify_of_events ON pulse_events', ...postgresTrigger(types)]),
  ];
}

/** Every press asks for words by itself; a digest has the buttons of many sessions; an address may be gone. */
function prompts({ bigint }: ColumnTypes): string[] {
  const columns = 'id, notification, session_id, seq, account_id, action, used_by, used_at, created_at';
  return [
    `CREATE TABLE notify_buttons (
      id text PRIMARY KEY,
      notification ${bigint} NOT NULL,
      session_id text NOT NULL REFERENCES pulse_sessions (id) ON DELETE CASCADE,
      seq ${bigint} NOT NULL,
      account_id text NOT NULL,
      action text NOT NULL,
      used_by text,
      used_at text,
      created_at text NOT NULL,
      UNIQUE (notification, session_id, action)
    )`,
    `INSERT INTO notify_buttons (${columns}) SELECT ${columns} FROM notify_actions`,
    'DROP TABLE notify_actions',
    'ALTER TABLE notify_buttons RENAME TO notify_actions',
    'CREATE INDEX notify_actions_by_session ON notify_actions (session_id)',
    `CREATE TABLE chat_prompts (
      id text PRIMARY KEY,
      account_id text NOT NULL,
      action_id text NOT NULL REFERENCES notify_actions (id) ON DELETE CASCADE,
      chat text NOT NULL,
      thread text,
      sender text NOT NULL,
      message text,
      at text NOT NULL,
      closed_at text
    )`,
    'CREATE INDEX chat_prompts_by_place ON chat_prompts (account_id, chat, message)',
    'CREATE INDEX chat_prompts_by_action ON chat_prompts (action_id)',
    'ALTER TABLE notifications ADD COLUMN refusals integer NOT NULL DEFAULT 0',
    'ALTER TABLE notify_accounts ADD COLUMN gone_at text',
    'CREATE INDEX notify_routes_by_account ON notify_routes (account_id)',
  ];
}
