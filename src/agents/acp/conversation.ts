/** One conversation: a session, the brief, and its updates until the turn stops. Failure is data. */
import {
  type ActiveSession,
  type ClientContext,
  client,
  methods,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import type { FailureClass } from '../../domain/failures.ts';
import type { RunEvent } from '../contract.ts';
import { keepEnd } from '../shared/kept-text.ts';
import { classifyFailure } from './failure.ts';
import { answerPermission, isRefusedByGuard } from './permission.ts';
import { startProgram } from './program.ts';
import { createUpdateReader, type UpdateReader } from './updates.ts';
import { readUsage } from './usage.ts';

export interface AcpRun {
  command: string;
  cwd: string;
  brief: string;
  tools: { url: string; token: string };
  print(event: RunEvent): void;
  /** Cancels the turn. */
  signal: AbortSignal;
}

export type AcpEnd = { ok: true } | { ok: false; failure: FailureClass; message: string };

/**
 * The modes that Pulse wants, by name. In `default` the agent asks before a call, so that the guard decides. codex gets
 * `full-access`: in its other modes its own sandbox keeps it from committing.
 */
const MODES = ['full-access', 'default'];
/** A cancelled turn gets this long to say so. */
const CANCEL_GRACE_MS = 1_500;
/** Keeps this process alive until the program has started and its handles do. */
const KEEP_ALIVE_MS = 60_000;

export async function converse(run: AcpRun): Promise<AcpEnd> {
  const alive = setInterval(() => undefined, KEEP_ALIVE_MS);
  const program = startProgram(run);
  const reader = createUpdateReader(Date.now);
  const app = client({ name: 'pulse' }).onRequest(
    methods.client.session.requestPermission,
    ({ params: request }) => permit(request, { run, reader }),
  );
  try {
    const spoken = app.connectWith(program.stream, (agent) => speak({ ...run, reader }, agent));
    return await Promise.race([spoken, cancelled(run.signal)]);
  } catch (error) {
    const failure = classifyFailure(error);
    if (failure.resetAt) run.print({ type: 'limit', message: failure.message, resetAt: failure.resetAt });
    if (failure.class !== 'crashed') return { ok: false, failure: failure.class, message: failure.message };
    return { ok: false, failure: 'crashed', message: await withLastWords(failure.message, program.ended) };
  } finally {
    clearInterval(alive);
  }
}

/** Some agents report a call only by this request, and never mention it again if it is refused. */
async function permit(
  request: RequestPermissionRequest,
  { run, reader }: { run: AcpRun; reader: UpdateReader },
): Promise<RequestPermissionResponse> {
  // While this waits, the earlier updates are read. The agent sends no new ones until it has its answer.
  const isRefused = await isRefusedByGuard(request.toolCall, run.tools);
  for (const event of reader.asked(request.toolCall, { isRefused })) run.print(event);
  return answerPermission(request, { isRefused });
}

async function speak(
  { cwd, brief, tools, print, signal, reader }: AcpRun & { reader: UpdateReader },
  agent: ClientContext,
): Promise<AcpEnd> {
  const { agentInfo, agentCapabilities } = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    // No fs and no terminal: the agent works in the worktree itself.
    clientCapabilities: {},
    clientInfo: { name: 'pulse', version: '1' },
  });
  const builder = agent.buildSession({ cwd, mcpServers: [] });
  if (agentCapabilities?.mcpCapabilities?.http) {
    const headers = [{ name: 'Authorization', value: `Bearer ${tools.token}` }];
    builder.withMcpServer({ type: 'http', name: 'pulse', url: `${tools.url}/mcp`, headers });
  }
  using session = await builder.start();
  print({ type: 'started' });
  const { sessionId } = session;
  const mode = wantedMode(session.modes);
  if (mode) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode });
  signal.addEventListener('abort', () => void agent.notify(methods.agent.session.cancel, { sessionId }));
  return await listen(session, { brief, print, reader, agentName: agentInfo?.name ?? '' });
}

/**
 * Takes the end of the turn from the queue of updates, where it comes last. The answer to the request itself may
 * overtake the updates.
 */
async function listen(
  session: ActiveSession,
  {
    brief,
    print,
    reader,
    agentName,
  }: Pick<AcpRun, 'brief' | 'print'> & { reader: UpdateReader; agentName: string },
): Promise<AcpEnd> {
  const refused = Promise.withResolvers<never>();
  session.prompt(brief).catch(refused.reject);
  for (;;) {
    const message = await Promise.race([session.nextUpdate(), refused.promise]);
    if (message.kind === 'session_update') {
      for (const event of reader.read(message.update)) print(event);
      continue;
    }
    for (const event of [...reader.end(), ...readUsage(message.response, agentName)]) print(event);
    return endOf(message.stopReason);
  }
}

function endOf(stopReason: string): AcpEnd {
  if (stopReason === 'end_turn') return { ok: true };
  const failure = stopReason === 'cancelled' ? 'cancelled' : 'crashed';
  return { ok: false, failure, message: `The agent stopped: ${stopReason}.` };
}

/** `null`: the agent is already in that mode, or does not offer one. */
function wantedMode(modes: SessionModeState | null | undefined): string | null {
  const offered = modes?.availableModes.map(({ id }) => id) ?? [];
  const wanted = MODES.find((id) => offered.includes(id)) ?? null;
  return wanted === modes?.currentModeId ? null : wanted;
}

/** Resolves if the turn does not report in time that it was cancelled. */
function cancelled(signal: AbortSignal): Promise<AcpEnd> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      const end: AcpEnd = { ok: false, failure: 'cancelled', message: 'The run was cancelled.' };
      setTimeout(() => resolve(end), CANCEL_GRACE_MS);
    });
  });
}

/** Shorter than what is kept of stderr, whose first word may be half of a secret. */
const LAST_WORDS = 2_000;

/** A broken connection does not say why. The program's stderr may. */
async function withLastWords(
  message: string,
  ended: Promise<{ code: number; stderr: string }>,
): Promise<string> {
  const end = await Promise.race([ended, new Promise<null>((resolve) => setTimeout(resolve, 1_000, null))]);
  if (!end) return message;
  const said = keepEnd(end.stderr.trim(), LAST_WORDS).split('\n').slice(-5).join('\n');
  return [`${message} The program exited with code ${end.code}.`, said].filter(Boolean).join('\n');
}
