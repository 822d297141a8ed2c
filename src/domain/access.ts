/** What a key of a device is good for: looking, or everything that a person may do. */
export const SCOPES = ['read', 'operate'] as const;
export type Scope = (typeof SCOPES)[number];

/** The wider one has the narrower one, too. */
export function scopesOf(scope: Scope): Scope[] {
  return scope === 'operate' ? ['read', 'operate'] : ['read'];
}
