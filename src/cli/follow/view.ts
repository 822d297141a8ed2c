/** What a followed session looks like: a live view on a terminal, plain lines elsewhere, JSON when asked. */
import { formatDuration } from '../../domain/durations.ts';
import type { PulseEvent } from '../../domain/events.ts';
import { PREFLIGHT_UNIT } from '../../domain/workflow.ts';
import type { Session } from '../../store/sessions.ts';
import type { Output } from '../output.ts';
import { shownLine } from '../terminal/text.ts';
import { eventLines } from './lines.ts';
import { createLiveView } from './live-view.ts';
import { advance, firstProgress, type Progress, placeOf } from './progress.ts';

export interface View {
  event(event: PulseEvent): void;
  /** The session's row as it is now. */
  session(session: Session): void;
  /** A line for the person, in its place. */
  say(text: string): void;
  /** A question that stays until it is answered (`null`). */
  ask(question: string | null): void;
  close(): void;
}

/** `hasHead`: begins with what the session is about. */
export function createView(output: Output, session: Session, { hasHead }: { hasHead: boolean }): View {
  if (output.isJson) return jsonView(output);
  if (!output.stderr.isTerminal) return plainView(output, session);
  return createLiveView(output.stderr, session, { hasHead });
}

function jsonView(output: Output): View {
  return {
    event: (event) => output.json(event),
    session: () => undefined,
    say: (text) => output.talk(text),
    ask: () => undefined,
    close: () => undefined,
  };
}

function startOf({ isByPulse, unit }: Progress): string {
  if (!isByPulse) return 'agent started';
  return unit === PREFLIGHT_UNIT ? 'preflight: the worktree is set up, checks are run' : 'is measured';
}

/** One line for each event that means something to a person reading a log. */
function plainView(output: Output, session: Session): View {
  let progress = firstProgress(session);
  const { style } = output.stderr;
  return {
    event(event) {
      progress = advance(progress, event);
      for (const line of plainLines(event)) output.talk(line);
      for (const line of eventLines(event, progress, { style, columns: 200 })) output.talk(line);
    },
    session: () => undefined,
    say: (text) => output.talk(text),
    ask: () => undefined,
    close: () => undefined,
  };

  function place(iteration: number | undefined): string {
    return progress.kind === 'research' ? placeOf(progress) : `${iteration}/${progress.maxIterations}`;
  }

  function plainLines({ type, iteration, data }: PulseEvent): string[] {
    switch (type) {
      case 'session.created':
        return [`▸ ${shownLine(String(data.goal))}`, `  ${session.id} · ${data.agent} on ${data.branch}`];
      case 'iteration.started':
        return [`  ${place(iteration)} ${startOf(progress)}`];
      case 'preflight.progress':
        return [`  ${place(iteration)} preflight ${shownLine(String(data.message))}`];
      case 'iteration.ended':
        return [`  ${place(iteration)} agent ended after ${formatDuration(Number(data.durationMs))}`];
      case 'iteration.verified':
        return [`  ${iteration}/${progress.maxIterations} verification ${data.passed ? 'passed' : 'failed'}`];
      default:
        return [];
    }
  }
}
