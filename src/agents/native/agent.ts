/** The process behind `native`: the brief on stdin, the event stream on stdout, its tools at the run's endpoint. */
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { printEvent } from '../shared/print-event.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { type LoopEnd, noteTool, runLoop } from './loop.ts';
import { createModel } from './model.ts';
import { readSettings, SettingsError } from './settings.ts';
import { createAskModel } from './step.ts';
import { createToolClient } from './tool-client.ts';

// The SDK's warnings do not belong in a run's output.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const end = await run(process.env, process.argv[2] ?? null).catch(
  (error: Error): LoopEnd => ({
    ok: false,
    failure: error instanceof SettingsError ? 'auth' : 'crashed',
    message: error.message,
  }),
);
printEvent({ type: 'done', ...end });
process.exitCode = end.ok ? 0 : 1;

async function run(environment: NodeJS.ProcessEnv, wanted: string | null): Promise<LoopEnd> {
  const settings = readSettings(wanted, environment);
  printEvent({ type: 'started', model: settings.model });
  const { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token } = environment;
  if (!url || !token) throw new Error('native works only in a run of Pulse: PULSE_TOOLS_URL is not set.');
  const client = createToolClient({ url, token });
  const [brief, offered, model] = await Promise.all([
    text(process.stdin),
    client.list(),
    createModel(settings),
  ]);
  return runLoop({
    brief,
    instructions: INSTRUCTIONS,
    contextWindow: settings.contextWindow,
    maxSteps: settings.maxSteps,
    ask: createAskModel(model, {
      tools: [...offered, noteTool],
      alive: () => printEvent({ type: 'raw', line: '' }),
    }),
    callTool: client.call,
    print: printEvent,
    sleep: (ms) => setTimeout(ms),
  });
}
