/** Keys by which pages show who they are, and the codes for which they get one. Both are kept as hashes alone. */
export function devicesMigration(): string[] {
  return [
    `CREATE TABLE device_keys (
      id text PRIMARY KEY,
      hash text NOT NULL UNIQUE,
      name text NOT NULL,
      scope text NOT NULL,
      created_at text NOT NULL,
      last_used_at text
    )`,
    `CREATE TABLE login_codes (
      hash text PRIMARY KEY,
      scope text NOT NULL,
      expires_at text NOT NULL
    )`,
  ];
}
