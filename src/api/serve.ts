/** Everything behind the port: the app, the runners of the sessions started on it, and of those it ran before. */
import { readFileSync } from 'node:fs';
import type { NotifySettings } from '../domain/notify.ts';
import { createMcpHandler } from '../mcp/handler.ts';
import type { Pulse } from '../pulse.ts';
import { type ApiOptions, createApi } from './api.ts';
import { createChatActions } from './chat-actions.ts';
import { allowedNames, isLoopback } from './guard.ts';
import { addHookRoutes } from './hook-routes.ts';
import { type HttpServer, listen } from './http-server.ts';
import type { PageFiles } from './page/page-files.ts';
import { addPageRoutes } from './page/page-route.ts';
import { createPlannedStarts } from './planned-starts.ts';
import { createSessionRunners } from './session-runners.ts';
import { readServeId, readToken } from './state-file.ts';

export interface ServeOptions {
  pulse: Pulse;
  host: string;
  port: number;
  /** `token`: reading needs it on loopback too. */
  reads: 'open' | 'token';
  /** Who may write to Pulse from a chat. */
  notify?: NotifySettings;
  /** Sessions to continue, beside those that the last `serve` of this state directory ran. */
  adopt: readonly string[];
  /** Writes what people read of a session. */
  writeReport?: ApiOptions['writeReport'];
  /** The page at `/`; it may take a while. Without it there is none. */
  loadPage?(signal: AbortSignal): Promise<PageFiles>;
  say(text: string): void;
}

export interface Served extends AsyncDisposable {
  url: string;
  adopted: string[];
}

/** Disposing stops accepting, gives back the leases (the sessions stay running), and closes. */
export async function serve({
  pulse,
  host,
  port,
  reads,
  adopt,
  loadPage,
  writeReport,
  say,
  notify = {},
}: ServeOptions): Promise<Served> {
  const stop = new AbortController();
  const served = pulse.servedSessions(await readServeId(pulse.home));
  const runners = createSessionRunners({ pulse, served, say });
  const token = await readToken(pulse.home);
  const shared = { pulse, token, runSession: runners.run, take: served.take };
  const { projects = {}, merge: mayMerge = false } = notify;
  const chats = pulse.chats({ notify, say, actions: createChatActions({ ...shared, projects, mayMerge }) });
  const app = createApi({
    ...shared,
    host,
    reads,
    writeReport,
    version: packageVersion(),
    signal: stop.signal,
    runners: () => runners.count,
    onFailure: (error) => say(error instanceof Error ? (error.stack ?? error.message) : String(error)),
  });
  addHookRoutes(app, chats);
  const isTokenRequired = !isLoopback(host) || reads === 'token';
  const mcp = createMcpHandler({ ...shared, hosts: allowedNames(host), isTokenRequired });
  app.all('/mcp', async (c) => {
    const answer = await mcp(c.req.raw);
    return c.newResponse(answer.body, answer);
  });
  const page = loadPage?.(stop.signal);
  if (page) addPageRoutes(app, page);
  page?.catch((error: Error) => say(error.message));
  const server: HttpServer = await listen(app, { host, port });
  const adopted = [...new Set([...(await served.list()), ...adopt])];
  for (const id of adopted) runners.run(id);
  const startPlanned = createPlannedStarts({ pulse, runSession: runners.run, take: served.take });
  const beside = [
    pulse.runJobs({ signal: stop.signal, say }),
    pulse.runSchedules({ signal: stop.signal, say, start: startPlanned }),
    pulse.keepHouse({ signal: stop.signal, say, take: served.take, runSession: runners.run }),
    chats.poll(stop.signal),
  ];
  return {
    url: server.url,
    adopted,
    async [Symbol.asyncDispose]() {
      server.stopAccepting();
      stop.abort();
      await Promise.all(beside);
      await runners[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return String(version);
}
