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
