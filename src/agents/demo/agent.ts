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
import { printEvent, readSpeed } from '../shared/print-event.ts';
import { type BeadAction, playBead } from './bead.ts';
import { PREFLIGHT_UNIT, playPreflight } from './preflight.ts';
import { type PulseAction, type PulseReply, playPulse } from './pulse.ts';
import { type ExperimentAction, isExperiment, playExperiment } from './research.ts';
import { type DemoAction, planDemo } from './scenario.ts';

const RUN_MS = 1200;
const PULSE_ACTION_MS = 150;
const CONTEXT_WINDOW = 32_000;

const speed = readSpeed(process.env.PULSE_DEMO_SPEED) ?? 1;
const brief = await text(process.stdin);
const iteration = Number(process.env.PULSE_ITERATION) || 1;
const tokens = { input: countTokens(brief), output: 0 };

const unit = process.env.PULSE_UNIT ?? '';
let pauseMs = 0;
let tools = 0;

printEvent({ type: 'started', model: 'demo-script' });
if (unit === PREFLIGHT_UNIT) await playWithAnswers(playPreflight);
else if (/^# Pulse /m.test(brief) && unit !== '') await playWithAnswers(playPulse);
else if (/^# Bead /m.test(brief) && unit !== '') await playWithAnswers(playBead);
else if (isExperiment(unit)) await playWithAnswers(playExperiment);
else await playTheGoal();
printEvent({ type: 'done', ok: true });

async function playTheGoal(): Promise<void> {
  const actions = planDemo({ brief, iteration, read });
  pauseMs = speed === 0 ? 0 : RUN_MS / actions.length / speed;
  for (const action of actions) await perform(action);
}

/** How long it becomes depends on what Pulse answers. */
async function playWithAnswers(
  begin: typeof playPulse | typeof playBead | typeof playPreflight | typeof playExperiment,
): Promise<void> {
  pauseMs = speed === 0 ? 0 : PULSE_ACTION_MS / speed;
  const play = begin({ brief, iteration, unit, read });
  let reply: PulseReply | undefined;
  for (let next = play.next(); !next.done; next = play.next(reply)) reply = await perform(next.value);
}

async function perform(action: PulseAction | BeadAction | ExperimentAction): Promise<PulseReply | undefined> {
  if (action.do === 'say') await say(action.text);
  else if (action.do === 'call') return await callPulse(action);
  else await useTool(action);
  return undefined;
}

type Call = Extract<PulseAction | BeadAction | ExperimentAction, { do: 'call' }>;

async function callPulse({ tool: name, input }: Call): Promise<PulseReply> {
  const id = `tool-${++tools}`;
  printEvent({ type: 'tool_start', id, name, summary: String(Object.values(input)[0]) });
  let reply = await post(name, input);
  while (reply.pending !== undefined) reply = await post(`${name}_result`, { id: reply.pending });
  printEvent({ type: 'tool_end', id, name, ok: reply.ok });
  return reply;
}

async function post(tool: string, input: object): Promise<PulseReply & { pending?: string }> {
  const { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token } = process.env;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/tools/${tool}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(input),
  });
  return (await answer.json()) as PulseReply & { pending?: string };
}

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

async function useTool(action: Exclude<DemoAction, { do: 'say' }>): Promise<void> {
  const id = `tool-${++tools}`;
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
