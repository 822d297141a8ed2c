/** The session tools over streamable HTTP, for `pulse serve` to mount at `/mcp`. */
import type { Pulse } from '../pulse.ts';
import type { Session } from '../store/sessions.ts';
import { answerMcp, jsonRpcError } from '../tools/mcp-server.ts';
import { bearerToken, isLoopbackHost, isSameOrigin, isToken, tokenDigest } from '../tools/request-guard.ts';
import { INSTRUCTIONS, sessionTools } from './session-tools.ts';

export interface McpHandlerOptions {
  pulse: Pulse;
  /** Gives a session that needs one a runner; resolves once that is under way, not when the session ends. */
  runSession(session: Session): Promise<void> | void;
  /** What a person's client sends as `Authorization: Bearer …`. */
  token: string;
  /** What may stand in `Host` besides loopback names, as `name` or `name:port`. */
  hosts?: readonly string[];
  /** Beyond loopback every request needs the token. */
  isTokenRequired?: boolean;
}

/** Host, Origin and token are checked for each request; nothing is kept between two. */
export function createMcpHandler(options: McpHandlerOptions): (request: Request) => Promise<Response> {
  const { pulse, runSession, hosts = [], isTokenRequired = false } = options;
  const digest = tokenDigest(options.token);
  return async (request) => {
    const host = request.headers.get('host') ?? new URL(request.url).host;
    const isKnown = isLoopbackHost(host) || hosts.includes(host);
    if (!isKnown || !isSameOrigin(request.headers.get('origin'), host)) {
      return jsonRpcError(403, 'This Host or Origin may not use Pulse.');
    }
    const isTrusted = isToken(bearerToken(request.headers.get('authorization')), digest);
    if (!isTrusted && (isTokenRequired || request.headers.has('authorization'))) {
      return jsonRpcError(401, 'The token is missing or wrong.', { 'www-authenticate': 'Bearer' });
    }
    const caller = {
      pulse: async () => pulse,
      runSession: async (session: Session) => runSession(session),
      actor: 'mcp',
      isTrusted,
      isInsideRun: false,
    };
    return answerMcp({ tools: sessionTools(caller), instructions: INSTRUCTIONS }, request);
  };
}
