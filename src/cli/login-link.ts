import type { Scope } from '../domain/access.ts';
import type { Pulse } from '../pulse.ts';

/**
 * The address of the page, or of a session on it, with a code that signs one device in. The code stands behind `#`:
 * browsers send that part to no server.
 */
export async function loginLink(
  pulse: Pick<Pulse, 'access'>,
  url: string,
  { sessionId, scope = 'operate' }: { sessionId?: string; scope?: Scope } = {},
): Promise<string> {
  const code = await pulse.access.createCode(scope);
  return `${url}${sessionId === undefined ? '/' : `/s/${sessionId}`}#code=${code}`;
}
