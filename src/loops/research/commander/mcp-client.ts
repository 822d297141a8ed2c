/** A commander elsewhere: any MCP server with the commander's two tools, started beside Pulse or reached over HTTP. */
import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { CommanderTarget } from '../../../domain/commander.ts';
import { agentEnvironment } from '../../../process/environment.ts';
import { type LineProcess, startLineProcess } from '../../../process/line-process.ts';
import type { CommanderLink, CommanderReply, Commanders } from './deliver.ts';
import { readReply } from './parse-reply.ts';

/** Connecting and the call together. */
const CALL_MS = 10_000;

export interface CommandersOptions {
  environment: NodeJS.ProcessEnv;
  debug(text: string): void;
  /** How long one call may take. */
  callMs?: number;
}

export function createCommanders({ environment, debug, callMs = CALL_MS }: CommandersOptions): Commanders {
  return {
    debug,
    open(target, { cwd, environmentPass }) {
      if ('url' in target) {
        return createLink({ transportOf: () => httpTransport(target, environment), mode: 'auto', callMs });
      }
      const env = agentEnvironment({ base: environment, own: [], pass: environmentPass, add: {} });
      const program = { command: target.command, cwd, env };
      return createLink({ transportOf: () => companionTransport(program), mode: 'legacy', callMs });
    },
  };
}

interface LinkOptions {
  transportOf(): Promise<Transport> | Transport;
  /** `auto` asks first whether a handshake is needed; some programs end or stay silent when they are asked that. */
  mode: 'auto' | 'legacy';
  callMs: number;
}

function createLink({ transportOf, mode, callMs }: LinkOptions): CommanderLink {
  let client: Client | null = null;

  async function connected(signal: AbortSignal): Promise<Client> {
    if (client) return client;
    const { Client: SdkClient } = await import('@modelcontextprotocol/client');
    const fresh = new SdkClient({ name: 'pulse', version: '1' }, { versionNegotiation: { mode } });
    // Known before it answers, so that one that hangs can be closed.
    client = fresh;
    fresh.onclose = () => {
      if (client === fresh) client = null;
    };
    await fresh.connect(await transportOf(), { signal, timeout: callMs });
    return fresh;
  }

  async function close(): Promise<void> {
    const last = client;
    client = null;
    // A server that is gone already cannot be closed, and that is as good.
    await last?.close().catch(() => undefined);
  }

  return {
    async call({ tool, arguments: given, key }, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(callMs)]);
      const work = async (): Promise<CommanderReply> => {
        const connection = await connected(limit);
        const _meta = { 'pulse/idempotency-key': key };
        const request = { name: tool, arguments: given, _meta };
        return readReply(await connection.callTool(request, { signal: limit, timeout: callMs }));
      };
      const reply = await Promise.race([work(), refusedBy(limit)]).catch(asReply);
      if (reply.kind === 'unavailable') await close();
      return reply;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Nobody waits longer than this, even if the other side never answers. */
function refusedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const refuse = (): void => reject(new Error('no answer in time'));
    if (signal.aborted) refuse();
    else signal.addEventListener('abort', refuse, { once: true });
  });
}

/** JSON-RPC's numbers are the server's answer. What the SDK says of the connection has a word for a code. */
function asReply(error: unknown): CommanderReply {
  const { code, message } = error as { code?: unknown; message: string };
  const isAnswer = typeof code === 'number' && code <= -32_000;
  return { kind: isAnswer ? 'refused' : 'unavailable', message };
}

async function httpTransport(
  { url, tokenEnv }: Extract<CommanderTarget, { url: string }>,
  environment: NodeJS.ProcessEnv,
): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const token = tokenEnv ? environment[tokenEnv] : undefined;
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
}

/** Ours and not the SDK's: what it started ends with it, and all of it ends with Pulse. */
function companionTransport(program: {
  command: string;
  cwd: string;
  env: Record<string, string>;
}): Transport {
  let companion: LineProcess | null = null;
  const transport: Transport = {
    async start() {
      companion = startLineProcess({
        ...program,
        onLine: (line) => {
          if (line.trim() === '') return;
          try {
            transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
          } catch (error) {
            transport.onerror?.(error as Error); // not a message: programs print all sorts of things
          }
        },
        onEnd: () => transport.onclose?.(),
      });
    },
    async send(message) {
      companion?.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      await companion?.[Symbol.asyncDispose]();
    },
  };
  return transport;
}
