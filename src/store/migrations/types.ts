/** Where the two databases spell a type differently, the migration is given the word. */
export interface ColumnTypes {
  json: string;
  real: string;
  bigint: string;
  bytes: string;
}

export const SQLITE_TYPES: ColumnTypes = { json: 'text', real: 'real', bigint: 'integer', bytes: 'blob' };

export const POSTGRES_TYPES: ColumnTypes = {
  json: 'jsonb',
  real: 'double precision',
  bigint: 'bigint',
  bytes: 'bytea',
};

export type Migration = (types: ColumnTypes) => string[];

/** Tables with a version of their own. */
export interface TableModule {
  readonly kind: string;
  /** In order, never changed once released: its version is how many of them the database has had. */
  readonly migrations?: readonly Migration[];
}
