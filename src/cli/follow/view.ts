/** What a followed session looks like: a live view on a terminal, plain lines elsewhere, JSON when asked. */
import { formatDuration } from '../../domain/durations.ts';
import type { PulseEvent } from '../../domain/events.ts';
import { followerFor } from '../../loops/followers.ts';
import { wordsFor } from '../../loops/words.ts';
import type { Session, SessionRequest } from '../../store/sessions.ts';
import { sanitizeLine, shorten } from '../../terminal/text.ts';
import type { Output } from '../output.ts';
import { requestText } from '../waiting-text.ts';
import { judgementTold } from './judgement-told.ts';
import { eventLines } from './lines.ts';
import { createLiveView } from './live-view.ts';
import type { Room } from './loop-follower.ts';
import { advance, firstProgress, type Progress, sentenceOf, type WorkPlan } from './progress.ts';

export interface View {
  event(event: PulseEvent): void;
  /** The session's row as it is now, and what it was asked for and has not done yet. */
  session(session: Session, request: SessionRequest | null): void;
  /** Lines that stand below where it is, until the next ones. */
  board?(read: (room: BoardRoom) => Promise<string[]>): Promise<void>;
  /** A line for the person, in its place. */
  say(text: string): void;
  /** Shows more of what the agent says and does, or less again. */
  toggle?(): void;
  /** A question, by its answers, that stays until it is answered (`null`). */
  ask(answers: readonly string[] | null): void;
  close(): void;
}

export type BoardRoom = Room & { nowMs: number };

export interface ViewOptions {
  /** Begins with what the session is about. */
  hasHead: boolean;
  /** Keys are heard, and Ctrl-C asks what is to become of the session, or only leaves it. */
  interrupt?: 'asks' | 'leaves';
  /** Where a browser shows it now. */
  page?: string;
  plan?: WorkPlan;
}

export function createView(output: Output, session: Session, options: ViewOptions): View {
  if (output.isJson) return jsonView(output);
  if (!output.stderr.isTerminal) return plainView(output, session, options);
  return createLiveView(output.stderr, session, options);
}

function jsonView(output: Output): View {
  return {
    // The last line says it, with the session: one line of a stream is called so, and it is the last.
    event: (event) => {
      if (event.type !== 'session.ended') output.json(event);
    },
    session: () => undefined,
    say: (text) => output.talk(text),
    ask: () => undefined,
    close: () => undefined,
  };
}

function startOf(progress: Progress): string {
  return progress.runsWithoutAgent ? wordsFor(progress.kind).alone(progress).line : 'begins';
}

function verificationText(data: Record<string, unknown>): string {
  const result = data.passed ? 'passed' : 'failed';
  switch (judgementTold(data)?.verdict) {
    case 'rejected':
      return data.passed ? 'passed, but the claim is not accepted' : result;
    case 'ask':
      return `${result}, with changed checks: a person decides`;
    case 'accepted':
      return data.passed ? result : 'failed as on the base';
    default:
      return result;
  }
}

/** So much of what an agent says; all of it is in the log. */
const SAID_COLUMNS = 200;

/** One line for each event that means something to a person reading a log. */
function plainView(output: Output, session: Session, { plan }: ViewOptions): View {
  let progress = firstProgress(session, plan);
  let told: SessionRequest | null = null;
  const { style } = output.stderr;
  return {
    event(event) {
      progress = advance(progress, event);
      for (const line of plainLines(event)) output.talk(line);
      for (const line of eventLines(event, progress, { style, columns: 200 })) output.talk(line);
    },
    session(_, request) {
      const asked = requestText(request);
      if (asked && request !== told) output.talk(`  it ${asked}`);
      told = request;
    },
    say: (text) => output.talk(text),
    ask: () => undefined,
    close: () => undefined,
  };

  function place(iteration: number | undefined): string {
    const words = wordsFor(progress.kind);
    return words.countsIterations ? `${iteration}/${progress.maxIterations}` : words.place(progress);
  }

  function plainLines(event: PulseEvent): string[] {
    const { type, iteration, data } = event;
    switch (type) {
      case 'session.created':
        return [`▸ ${sanitizeLine(String(data.goal))}`, `  ${session.id} · ${data.agent} on ${data.branch}`];
      case 'iteration.started':
        return [`  ${place(iteration)} ${startOf(progress)}`];
      case 'agent.text': {
        const said = sentenceOf(event);
        return said === null ? [] : [`  ${place(iteration)} │ ${shorten(said, SAID_COLUMNS)}`];
      }
      case 'iteration.ended':
        return [`  ${place(iteration)} agent ended after ${formatDuration(Number(data.durationMs))}`];
      case 'iteration.verified':
        return [`  ${place(iteration)} verification ${verificationText(data)}`];
      case 'iteration.progress':
        return [`  ${place(iteration)} ${progress.doing ?? 'agent working'}`];
      default: {
        const line = followerFor(progress.kind).logLine?.(event) ?? null;
        return line === null ? [] : [`  ${place(iteration)} ${line}`];
      }
    }
  }
}
