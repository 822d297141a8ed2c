/** What an agent was told in an iteration, and what it printed. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadTokenCounter } from '../../context/tokens.ts';
import { PulseError } from '../../domain/errors.ts';
import type { PulseEvent } from '../../domain/events.ts';
import { readTextOrNull } from '../../files/regular-file.ts';
import { readEvents } from '../../store/events.ts';
import { findIteration, type Iteration, newestIteration } from '../../store/iterations.ts';
import { getControl, getSession } from '../../store/sessions.ts';
import type { Db } from '../../store/store.ts';
import { findTurn, type StoredTurn } from '../../store/turns.ts';
import type { Operations } from '../context.ts';

interface AnchorTurn {
  id: string;
  role: string;
  phase: string;
  content: string;
  createdAt: string;
}

export interface BriefView {
  iteration: number;
  text: string;
  tokens: number;
  sections: { title: string; text: string; tokens: number }[];
  anchor: {
    turnId: string;
    strategy: string | null;
    resolutionMs: number | null;
    turn: AnchorTurn | null;
  } | null;
  slice: string | null;
  contextTokens: number;
}

export async function viewBrief(operations: Operations, id: string, number?: number): Promise<BriefView> {
  const { engine, redactor } = operations;
  const { iteration, turn } = await engine.store.read(async (db) => {
    const session = await getSession(db, id);
    const found = await requireIteration(db, session, number);
    const { project_id: project } = await getControl(db, session.id);
    const anchorId = found.anchor_turn_id;
    return { iteration: found, turn: anchorId === null ? null : await findTurn(db, project, anchorId) };
  });
  const count = await loadTokenCounter();
  const text = iteration.task_content;
  return redactor.redactJson({
    iteration: iteration.iteration_number,
    text,
    tokens: count(text),
    sections: sectionsOf(text).map((section) => ({ ...section, tokens: count(section.text) })),
    anchor: iteration.anchor_turn_id === null ? null : anchorOf(iteration, turn),
    slice: iteration.slice_id,
    contextTokens: iteration.context_tokens,
  });
}

function anchorOf(iteration: Iteration, turn: StoredTurn | null) {
  const { anchor_turn_id, anchor_strategy: strategy, anchor_resolution_ms: resolutionMs } = iteration;
  const shown = turn && {
    ...{ id: turn.id, role: turn.role, phase: turn.phase, content: turn.content, createdAt: turn.created_at },
  };
  return { turnId: anchor_turn_id!, strategy, resolutionMs, turn: shown };
}

async function requireIteration(
  db: Db,
  session: { id: string; current_iteration: number },
  number: number | undefined,
): Promise<Iteration> {
  const found =
    number === undefined
      ? await newestIteration(db, session.id)
      : await findIteration(db, session.id, number);
  if (found) return found;
  throw new PulseError(
    'not_found',
    `Session ${session.id} has no iteration${number === undefined ? '' : ` ${number}`}.`,
    {
      hint: `It is at iteration ${session.current_iteration}.`,
    },
  );
}

/** By the headings of the first level that stand in no fence: what is quoted may have headings of its own. */
export function sectionsOf(brief: string): { title: string; text: string }[] {
  const sections: { title: string; lines: string[] }[] = [];
  let fence: string | null = null;
  for (const line of brief.split('\n')) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const heading = fence === null ? /^# (.+)$/.exec(line)?.[1] : undefined;
    if (mark && fence === null) fence = mark;
    else if (mark && fence !== null && mark.startsWith(fence) && line.trim() === mark) fence = null;
    if (heading !== undefined || sections.length === 0) sections.push({ title: heading ?? '', lines: [] });
    if (heading === undefined) sections.at(-1)!.lines.push(line);
  }
  return sections
    .map(({ title, lines }) => ({ title, text: lines.join('\n').trim() }))
    .filter(({ title, text }) => title !== '' || text !== '');
}

export interface TranscriptEntry {
  n: number;
  atMs: number;
  kind: string;
  text: string;
  data: Record<string, unknown>;
}

export interface TranscriptView {
  iteration: number;
  attempt: number;
  attempts: number[];
  agent: string | null;
  isRecorded: boolean;
  entries: TranscriptEntry[];
  nextAfter: number | null;
}

export interface TranscriptQuery {
  iteration?: number;
  attempt?: number;
  after?: number;
  limit?: number;
}

const ENTRIES = 200;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_EVENTS = 20_000;

export async function viewTranscript(
  operations: Operations,
  id: string,
  { iteration: number, attempt: wanted, after = 0, limit = ENTRIES }: TranscriptQuery,
): Promise<TranscriptView> {
  const { engine, home, redactor } = operations;
  const { session, iteration } = await engine.store.read(async (db) => {
    const found = await getSession(db, id);
    return { session: found, iteration: await requireIteration(db, found, number) };
  });
  const folder = join(home.recordings, session.id);
  const n = iteration.iteration_number;
  const attempts = await recordedAttempts(folder, n);
  const attempt = wanted ?? attempts.at(-1) ?? iteration.attempt;
  const recording = attempts.includes(attempt)
    ? await readRecording(join(folder, `${n}.${attempt}.jsonl`))
    : null;
  const all =
    recording?.entries ??
    entriesOf(
      await engine.store.read((db) => readEvents(db, session.id, { iteration: n, limit: MOST_EVENTS })),
    );
  const entries = all.filter((entry) => entry.n > after).slice(0, limit);
  const last = entries.at(-1)?.n ?? after;
  return redactor.redactJson({
    ...{ iteration: n, attempt, attempts, agent: recording?.agent ?? session.agent },
    ...{ isRecorded: recording !== null, entries, nextAfter: last < all.length ? last : null },
  });
}

async function recordedAttempts(folder: string, iteration: number): Promise<number[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const numbers = names.map((name) => new RegExp(`^${iteration}\\.(\\d+)\\.jsonl$`).exec(name)?.[1]);
  return numbers.flatMap((found) => (found === undefined ? [] : [Number(found)])).sort((a, b) => a - b);
}

/** `null`: it cannot be read. A line that is no JSON is left out: a run may be writing its last one. */
async function readRecording(
  path: string,
): Promise<{ agent: string | null; entries: TranscriptEntry[] } | null> {
  const text = await readTextOrNull(path, { maxBytes: MOST_BYTES }).catch(() => null);
  if (text === null) return null;
  const lines = text.split('\n').flatMap((line) => parsed(line));
  const header = lines.find((line) => line.type === 'recording');
  const events = lines.flatMap(({ atMs, event }) =>
    isRecord(event) ? [{ atMs: Number(atMs) || 0, event }] : [],
  );
  return {
    agent: typeof header?.agent === 'string' ? header.agent : null,
    entries: events.map(({ atMs, event: { type, ...data } }, index) => ({
      ...{ n: index + 1, atMs, kind: String(type), text: textOf(data), data },
    })),
  };
}

function parsed(line: string): Record<string, unknown>[] {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? [value] : [];
  } catch {
    return [];
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(data: Record<string, unknown>): string {
  const found = [data.text, data.line, data.message, data.reason].find((one) => typeof one === 'string');
  if (found !== undefined) return found as string;
  return [data.name, data.summary ?? data.output].filter((one) => typeof one === 'string').join(' ');
}

const KINDS: Partial<Record<PulseEvent['type'], string>> = {
  'agent.text': 'text',
  'agent.usage': 'usage',
  'agent.retry': 'retry',
  'agent.limit': 'limit',
  'agent.denied': 'denied',
  'agent.compacted': 'compacted',
};

/** What the store has of it, where no recording is kept. */
function entriesOf(events: readonly PulseEvent[]): TranscriptEntry[] {
  const told = events.flatMap((event) => {
    const kind = event.type === 'agent.tool' ? `tool_${String(event.data.phase)}` : KINDS[event.type];
    return kind === undefined ? [] : [{ kind, event }];
  });
  const began = Date.parse(events[0]?.at ?? '');
  return told.map(({ kind, event: { at, data } }, index) => ({
    ...{ n: index + 1, atMs: Math.max(0, Date.parse(at) - began), kind, text: textOf(data), data },
  }));
}
