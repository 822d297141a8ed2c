/** The native agent as the host runs it: a real process, a real endpoint with the work tools, a scripted model. */
import { onTestFinished } from 'vitest';
import type { AgentEnd, RunEvent } from '../../../src/agents/contract.ts';
import { nativeAdapter } from '../../../src/agents/native/adapter.ts';
import type { ToolSignal } from '../../../src/domain/attempt.ts';
import { agentEnvironment } from '../../../src/process/environment.ts';
import { type RunResult, runProcess } from '../../../src/process/run.ts';
import type { Tool, ToolReply } from '../../../src/tools/contract.ts';
import { createToolEndpoint } from '../../../src/tools/endpoint.ts';
import { pulseSignalTool } from '../../../src/tools/run-tools.ts';
import { createWorkTools } from '../../../src/tools/work/work-tools.ts';
import { type ModelServer, type Step, startModelServer } from '../../fakes/model-server/index.ts';
import { createScratch, type Scratch } from '../../fakes/scratch.ts';
import { makeRun, NO_OPTIONS } from '../fixture.ts';

export type ProviderName = 'anthropic' | 'openai' | 'compatible';

export interface NativeRun {
  events: RunEvent[];
  end: AgentEnd;
  process: RunResult;
  signal: ToolSignal | null;
  calls: [name: string, reply: ToolReply][];
}

export interface NativeRunOptions {
  steps?: readonly Step[];
  provider?: ProviderName;
  model?: string;
  environment?: Record<string, string>;
  /** In place of the work tools. */
  tools?: readonly Tool[];
  signal?: AbortSignal;
  /** Another address for the model's. */
  through?(url: string): string;
}

export interface NativeScene {
  server: ModelServer;
  repository: string;
  git: Scratch['git'];
  run(options: NativeRunOptions): Promise<NativeRun>;
  /** What the last run asked, as the server read it. */
  requests(): ReturnType<ModelServer['requests']>;
}

let runs = 0;

export async function createNativeScene(): Promise<NativeScene> {
  const server = await startModelServer();
  const scratch = createScratch();
  const endpoint = createToolEndpoint();
  let script = '';
  onTestFinished(async () => {
    await endpoint[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });

  async function run(options: NativeRunOptions): Promise<NativeRun> {
    const { steps = [], provider = 'anthropic', model = 'a-model' } = options;
    script = `native-${++runs}`;
    const address = server.script(script, steps);
    const url = options.through?.(address) ?? address;
    const runId = `test-native-${process.pid}-${runs}`;
    const { PATH = '', HOME = '' } = process.env;
    const environment = { PATH, HOME };
    await using work = createWorkTools({ worktree: scratch.repository, runId, environment });
    let toolSignal: ToolSignal | null = null;
    const calls: NativeRun['calls'] = [];
    const signalTool = pulseSignalTool((said) => {
      toolSignal = said;
    });
    using access = await endpoint.admit([...(options.tools ?? work.tools), signalTool], (name, reply) =>
      calls.push([name, reply]),
    );
    const parser = nativeAdapter.createParser({
      ...NO_OPTIONS,
      prices: { 'a-model': { input: 10, output: 100 } },
    });
    const { file, args, env, stdin, stopSignals } = nativeAdapter.command(
      makeRun({ brief: 'Fix it.', worktree: scratch.repository, model: `${provider}/${model}` }),
    );
    const events: RunEvent[] = [];
    const result = await runProcess({
      runId,
      file,
      args,
      stdin,
      stopSignals,
      cwd: scratch.repository,
      env: agentEnvironment({
        base: { PATH, HOME, ...providerEnvironment(url), ...options.environment },
        own: nativeAdapter.environment,
        pass: [],
        add: { ...env, PULSE_TOOLS_URL: access.url, PULSE_TOOLS_TOKEN: access.token },
      }),
      signal: options.signal,
      timeoutMs: 50_000,
      onLine(stream, line) {
        if (stream === 'stderr') return;
        events.push(...parser.parse(line));
      },
    });
    return { events, end: parser.finish(result), process: result, signal: toolSignal, calls };
  }

  const { repository, git } = scratch;
  return { server, repository, git, run, requests: () => server.requests(script) };
}

function providerEnvironment(url: string): Record<string, string> {
  return {
    ANTHROPIC_API_KEY: 'key-a',
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: 'key-o',
    OPENAI_BASE_URL: `${url}/v1`,
    PULSE_NATIVE_BASE_URL: `${url}/v1`,
  };
}
