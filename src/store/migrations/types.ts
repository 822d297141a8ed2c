/** Where the two databases spell a type differently, the migration is given the word. */
export interface ColumnTypes {
  json: string;
  real: string;
  bigint: string;
  bytes: string;
  /** A whole number that the database counts up by itself, as the primary key. */
  identity: string;
  dialect: 'sqlite' | 'postgres';
}

export const SQLITE_TYPES: ColumnTypes = {
  json: 'text',
  real: 'real',
  bigint: 'integer',
  bytes: 'blob',
  identity: 'integer PRIMARY KEY AUTOINCREMENT',
  dialect: 'sqlite',
};

export const POSTGRES_TYPES: ColumnTypes = {
  json: 'jsonb',
  real: 'double precision',
  bigint: 'bigint',
  bytes: 'bytea',
  identity: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  dialect: 'postgres',
};

export type Migration = (types: ColumnTypes) => string[];

/** Tables with a version of their own. */
export interface TableModule {
  readonly kind: string;
  /** In order, never changed once released: its version is how many of them the database has had. */
  readonly migrations?: readonly Migration[];
}
