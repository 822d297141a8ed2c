/**
 * The process behind `demo`: the brief on stdin, the work in the current folder, the event stream on stdout.
 *
 * PULSE_DEMO_SPEED: 1 (default) takes a little over a second, so that there is something to watch; 2 half of that,
 * 0 does not wait at all.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { printEvent, readSpeed } from '../print-event.ts';
import { type DemoAction, planDemo } from './scenario.ts';

const RUN_MS = 1200;
const CONTEXT_WINDOW = 32_000;

const speed = readSpeed(process.env.PULSE_DEMO_SPEED) ?? 1;
const brief = await text(process.stdin);
const iteration = Number(process.env.PULSE_ITERATION) || 1;
const tokens = { input: countTokens(brief), output: 0 };

printEvent({ type: 'started', model: 'demo-script' });
const actions = planDemo({ brief, iteration, read });
const pauseMs = speed === 0 ? 0 : RUN_MS / actions.length / speed;
for (const [index, action] of actions.entries()) {
  if (action.do === 'say') await say(action.text);
  else await useTool(action, `tool-${index + 1}`);
}
printEvent({ type: 'done', ok: true });

async function say(message: string): Promise<void> {
  await pause(pauseMs);
  printEvent({ type: 'text', text: message });
  tokens.output += countTokens(message);
  printEvent({
    type: 'usage',
    scope: 'cumulative',
    costUsd: 0,
    inputTokens: tokens.input,
    outputTokens: tokens.output,
    contextTokens: tokens.input + tokens.output,
    contextWindow: CONTEXT_WINDOW,
  });
}

async function useTool(action: Exclude<DemoAction, { do: 'say' }>, id: string): Promise<void> {
  const name = action.do === 'read' ? 'Read' : 'Write';
  await pause(pauseMs / 2);
  printEvent({ type: 'tool_start', id, name, summary: `${name} ${action.path}` });
  await pause(pauseMs / 2);
  if (action.do === 'read') {
    tokens.input += countTokens(read(action.path) ?? '');
  } else {
    mkdirSync(dirname(resolve(action.path)), { recursive: true });
    writeFileSync(action.path, action.content);
    tokens.output += countTokens(action.content);
  }
  printEvent({ type: 'tool_end', id, name, ok: true });
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // not there, or no file: the plan goes by what can be read
  }
}

/** Four characters a token: near enough for a script that costs nothing. */
function countTokens(content: string): number {
  return Math.ceil(content.length / 4);
}

async function pause(ms: number): Promise<void> {
  if (ms >= 1) await setTimeout(ms);
}
