/**
 * The process behind `replay`: prints a recording's events with the recorded pauses.
 *
 * PULSE_REPLAY_SPEED: unset, a pause is as recorded but at most 200 ms; 1 as recorded, 2 twice as fast, 0 none.
 * PULSE_ITERATION and PULSE_ATTEMPT choose the file in a folder; without that attempt, the iteration's last one.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { RunEvent } from '../contract.ts';
import { readJson } from '../shared/json-line.ts';
import { printEvent, readSpeed } from '../shared/print-event.ts';

const MAX_PAUSE_MS = 200;

try {
  await play(readRecording(resolve(process.argv[2] ?? '')));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  printEvent({ type: 'done', ok: false, failure: 'spawn_failed', message });
  process.exitCode = 1;
}

async function play(lines: readonly string[]): Promise<void> {
  const speed = readSpeed(process.env.PULSE_REPLAY_SPEED);
  let lastMs = 0;
  let isOk = false;
  for (const line of lines) {
    const recorded = readRecorded(line);
    if (!recorded) {
      process.stdout.write(`${line}\n`); // the reader makes it `raw`
      continue;
    }
    const pauseMs = pauseBetween(recorded.atMs - lastMs, speed);
    lastMs = Math.max(lastMs, recorded.atMs);
    if (pauseMs >= 1) await setTimeout(pauseMs);
    printEvent(recorded.event);
    if (recorded.event.type === 'done') isOk = recorded.event.ok;
  }
  if (!isOk) process.exitCode = 1;
}

function pauseBetween(gapMs: number, speed: number | null): number {
  const gap = Math.max(0, gapMs);
  if (speed === null) return Math.min(gap, MAX_PAUSE_MS);
  return speed === 0 ? 0 : gap / speed;
}

/** The event lines of the recording at this path. Throws if there is none that can be played. */
function readRecording(path: string): string[] {
  const file = findFile(path);
  const [header, ...lines] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const { type, version } = (readJson(header ?? '') ?? {}) as { type?: unknown; version?: unknown };
  if (type !== 'recording') throw new Error(`${file} is not a recording of Pulse.`);
  if (version !== 1) throw new Error(`${file} is a recording of another version of Pulse (${version}).`);
  return asOneRun(lines);
}

/** Where the agent was asked again in the same attempt, a second run follows: its header and the end before it go. */
function asOneRun(lines: readonly string[]): string[] {
  const second = lines.findIndex(
    (line) => (readJson(line) as { type?: unknown } | null)?.type === 'recording',
  );
  if (second === -1) return [...lines];
  const first = lines.slice(0, second).filter((line) => readRecorded(line)?.event.type !== 'done');
  return [...first, ...asOneRun(lines.slice(second + 1))];
}

function findFile(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new Error(`There is no recording at ${path}.`);
  if (!stat.isDirectory()) return path;
  const { PULSE_ITERATION: iteration = '1', PULSE_ATTEMPT: attempt } = process.env;
  const attempts = readdirSync(path)
    .map((name) => /^(\d+)\.(\d+)\.jsonl$/.exec(name))
    .filter((match) => match?.[1] === iteration)
    .map((match) => Number(match![2]))
    .sort((a, b) => a - b);
  const chosen = attempts.find((number) => String(number) === attempt) ?? attempts.at(-1);
  if (chosen === undefined) throw new Error(`${path} has no recording of iteration ${iteration}.`);
  return join(path, `${iteration}.${chosen}.jsonl`);
}

function readRecorded(line: string): { atMs: number; event: RunEvent } | null {
  const { atMs, event } = (readJson(line) ?? {}) as { atMs?: unknown; event?: unknown };
  if (typeof atMs !== 'number' || typeof event !== 'object' || event === null) return null;
  return { atMs, event: event as RunEvent }; // checked line by line on the other side of the pipe
}
