/** The session tools over streamable HTTP, for `pulse serve` to mount at `/mcp`. */
import type { TransactionHook } from '../operations/context.ts';
import type { Pulse } from '../pulse.ts';
import { answerMcp, jsonRpcError } from '../tools/mcp-server.ts';
import { bearerToken, isLoopbackHost, isSameOrigin, isToken, tokenDigest } from '../tools/request-guard.ts';
import type { Caller } from './operation-tool.ts';
import { INSTRUCTIONS, operationTools } from './operation-tools.ts';

export interface McpHandlerOptions {
  pulse: Pulse;
  /** Gives a session that needs one a runner; resolves once that is under way, not when the session ends. */
  runSession(sessionId: string): Promise<void> | void;
  /** Written with each start and resume. */
  take?: TransactionHook;
  /** What a person's client sends as `Authorization: Bearer …`. */
  token: string;
  /** The names this server has besides the loopback ones. */
  hosts?: readonly string[];
  /** Beyond loopback every request needs the token. */
  isTokenRequired?: boolean;
}

/** Host, Origin and token are checked for each request; nothing is kept between two. */
export function createMcpHandler(options: McpHandlerOptions): (request: Request) => Promise<Response> {
  const { pulse, runSession, take, hosts = [], isTokenRequired = false } = options;
  const digest = tokenDigest(options.token);
  return async (request) => {
    const host = request.headers.get('host') ?? new URL(request.url).host;
    const isKnown = isLoopbackHost(host) || hosts.includes(host.replace(/:\d{1,5}$/, '').toLowerCase());
    if (!isKnown || !isSameOrigin(request.headers.get('origin'), host)) {
      return jsonRpcError(403, 'This Host or Origin may not use Pulse.');
    }
    const isTrusted = isToken(bearerToken(request.headers.get('authorization')), digest);
    if (!isTrusted && (isTokenRequired || request.headers.has('authorization'))) {
      return jsonRpcError(401, 'The token is missing or wrong.', { 'www-authenticate': 'Bearer' });
    }
    const caller: Caller = {
      pulse: async () => pulse,
      operations: pulse.operations,
      runSession: async ({ id }) => runSession(id),
      take,
      actor: 'mcp',
      isTrusted,
      isInsideRun: false,
    };
    return answerMcp({ tools: operationTools(caller), instructions: INSTRUCTIONS }, request);
  };
}
