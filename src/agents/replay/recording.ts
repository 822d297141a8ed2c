/**
 * A run's events as a file that `replay` plays: a header line
 * `{"type":"recording","version":1,"agent":…,"at":…}`, then `{"atMs":…,"event":…}` lines, `atMs` since the header.
 */
import { redactLines } from '../../domain/redact.ts';
import type { AgentEnd, RunEvent } from '../contract.ts';
import { keepEnd } from '../shared/kept-text.ts';

export interface RecorderOptions {
  agent: string;
  /** Wall clock, in milliseconds since 1970. */
  nowMs(): number;
  /** Takes secrets out of a text. Every text goes through it before it is written. */
  redact(text: string): string;
}

export interface Recorder {
  /** Takes no event after `finish`. */
  record(event: RunEvent): void;
  /**
   * Writes how the run ended, as the adapter judged it: the final message where the last `text` is another (a
   * `command` agent has none), and `done`. A recording without this end replays as a run that crashed.
   */
  finish(end: AgentEnd): void;
}

/** Keeps a line, escaped and in UTF-8, below the megabyte that the host reads of a line. */
const MAX_RECORDED_LENGTH = 128 * 1024;

/** Words of the protocol, which need no redaction. */
const FIXED_FIELDS = new Set(['type', 'scope', 'failure', 'resetAt']);

/** Writes the header at once. `writeLine` gets lines without their line break. */
export function createRecorder(writeLine: (line: string) => void, options: RecorderOptions): Recorder {
  const { agent, nowMs, redact } = options;
  const redactLine = redactLines(redact);
  const began = nowMs();
  let lastText = '';
  let lastReset: string | null = null;
  let isFinished = false;

  const write = (event: RunEvent): void => {
    const atMs = Math.max(0, Math.round(nowMs() - began));
    writeLine(
      JSON.stringify({ atMs, event: withoutSecrets(event, event.type === 'raw' ? redactLine : redact) }),
    );
  };

  writeLine(JSON.stringify({ type: 'recording', version: 1, agent, at: new Date(began).toISOString() }));
  return {
    record(event) {
      if (isFinished || event.type === 'done') return; // `finish` writes the end: it knows the exit code
      if (event.type === 'text' && event.text.trim() !== '') lastText = event.text;
      if (event.type === 'limit') lastReset = event.resetAt ?? lastReset;
      write(event);
    },
    finish(end) {
      if (isFinished) return;
      isFinished = true;
      const { ok, failure, message, resetAt, finalMessage } = end;
      if (finalMessage.trim() !== '' && finalMessage !== lastText)
        write({ type: 'text', text: finalMessage });
      if (resetAt !== null && resetAt !== lastReset) write({ type: 'limit', message, resetAt });
      write({ type: 'done', ok, failure: failure ?? undefined, message });
    },
  };
}

function withoutSecrets(event: RunEvent, redact: (text: string) => string): unknown {
  return Object.fromEntries(
    Object.entries(event).map(([field, value]) =>
      typeof value === 'string' && !FIXED_FIELDS.has(field)
        ? [field, keepEnd(redact(value), MAX_RECORDED_LENGTH)]
        : [field, value],
    ),
  );
}
