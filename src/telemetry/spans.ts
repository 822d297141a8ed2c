/**
 * Spans, made of a session's events: the session from a start to a stop, in it its iterations, in each its runs, in each
 * its tool calls. Ids follow from the events, so that a runner that takes over continues the same trace.
 */
import { createHash } from 'node:crypto';
import type { PulseEvent } from '../domain/events.ts';

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, string | number | boolean>;
  error: string | null;
}

export interface TracedSession {
  id: string;
  kind: string;
  agent: string;
  /** It works for this one, and belongs to its trace; `began`: the event with which that one's span begins. */
  parent: { id: string; began: number } | null;
}

interface OpenSpan extends Omit<Span, 'endMs' | 'error'> {
  endMs?: never;
}

export interface SpanFold {
  /** The spans that this event has ended. */
  take(event: PulseEvent): Span[];
}

/** Far more tool calls than are open at once: what never ends is forgotten. */
const MOST_OPEN_CALLS = 256;

export function createSpanFold(session: TracedSession): SpanFold {
  const open: OpenSpans = { root: null, iteration: null, run: null, calls: [] };
  return { take: (event) => takeEvent(session, open, event) };
}

interface OpenSpans {
  root: OpenSpan | null;
  iteration: OpenSpan | null;
  run: OpenSpan | null;
  calls: OpenSpan[];
}

function takeEvent(session: TracedSession, open: OpenSpans, event: PulseEvent): Span[] {
  const { type, data } = event;
  const begin = beginning(session, event);
  switch (type) {
    case 'session.started':
    case 'session.resumed':
      open.root = begin(`session ${session.kind}`, null, {
        'pulse.kind': session.kind,
        'pulse.agent': session.agent,
      });
      return [];
    case 'iteration.planned':
      open.iteration = begin(`iteration ${event.iteration}`, open.root, {
        'pulse.iteration': event.iteration ?? 0,
        ...(typeof data.unit === 'string' ? { 'pulse.unit': data.unit } : {}),
      });
      return [];
    case 'iteration.started': {
      const name = `run ${String(data.agent ?? session.agent)}`;
      open.run = begin(name, open.iteration, { 'pulse.attempt': Number(data.attempt ?? 1) });
      return [];
    }
    case 'agent.tool':
      return takeCall(open, event, begin);
    case 'iteration.ended':
      return endRun(open, event, {
        error: data.ok === false ? String(data.failureClass ?? 'failed') : null,
        attributes: usageOf(data.usage),
      });
    case 'iteration.retried':
      return endRun(open, event, { error: 'interrupted' });
    case 'iteration.settled':
      return endIteration(open, event, settledAs(data));
    case 'session.blocked':
    case 'session.paused':
    case 'session.failed':
    case 'session.aborted':
    case 'session.ended':
      return open.root ? endSession(open, event) : [];
    default:
      return [];
  }
}

type Begin = (name: string, parent: OpenSpan | null, attributes: Span['attributes']) => OpenSpan;

function beginning(session: TracedSession, { seq, at }: PulseEvent): Begin {
  return (name, parent, attributes) => ({
    traceId: hash(session.parent?.id ?? session.id, 32),
    spanId: spanIdOf(session.id, seq),
    ...parentOf(session, parent),
    ...{ name, startMs: Date.parse(at) },
    attributes: { 'pulse.session': session.id, ...attributes },
  });
}

function parentOf({ parent }: TracedSession, span: OpenSpan | null): { parentSpanId?: string } {
  if (span) return { parentSpanId: span.spanId };
  return parent ? { parentSpanId: spanIdOf(parent.id, parent.began) } : {};
}

function spanIdOf(sessionId: string, seq: number): string {
  return hash(`${sessionId} ${seq}`, 16);
}

type Ending = Partial<Pick<Span, 'error' | 'attributes'>>;

function end(
  span: OpenSpan | null,
  { at }: PulseEvent,
  { error = null, attributes = {} }: Ending = {},
): Span[] {
  if (!span) return [];
  return [{ ...span, endMs: Date.parse(at), attributes: { ...span.attributes, ...attributes }, error }];
}

function endRun(open: OpenSpans, event: PulseEvent, ending?: Ending): Span[] {
  const ended = [...open.calls.flatMap((call) => end(call, event)), ...end(open.run, event, ending)];
  open.run = null;
  open.calls = [];
  return ended;
}

function endIteration(open: OpenSpans, event: PulseEvent, ending?: Ending): Span[] {
  const ended = [...endRun(open, event), ...end(open.iteration, event, ending)];
  open.iteration = null;
  return ended;
}

function endSession(open: OpenSpans, event: PulseEvent): Span[] {
  const { type, data } = event;
  const status = type === 'session.ended' ? String(data.status ?? 'complete') : type.slice('session.'.length);
  const attributes: Span['attributes'] = { 'pulse.status': status };
  if (typeof data.stopReason === 'string') attributes['pulse.stop_reason'] = data.stopReason;
  const error = status === 'failed' ? String(data.stopReason ?? 'failed') : null;
  const ended = [...endIteration(open, event), ...end(open.root, event, { error, attributes })];
  open.root = null;
  return ended;
}

function takeCall(open: OpenSpans, event: PulseEvent, begin: Begin): Span[] {
  const { phase, name, ok } = event.data;
  const tool = String(name ?? 'tool');
  if (phase === 'start') {
    const call = begin(`tool ${tool}`, open.run, { 'gen_ai.tool.name': tool });
    open.calls = [...open.calls, call].slice(-MOST_OPEN_CALLS);
    return [];
  }
  const at = open.calls.findIndex((one) => one.attributes['gen_ai.tool.name'] === tool);
  if (phase !== 'end' || at === -1) return [];
  const [ended] = open.calls.splice(at, 1);
  return end(ended!, event, { error: ok === false ? 'the call failed' : null });
}

function settledAs({ outcome, signal, commit }: Record<string, unknown>): Ending {
  const word = String(outcome ?? '');
  const isBad = ['rejected', 'crashed', 'timeout'].includes(word);
  return {
    error: isBad ? word : null,
    attributes: {
      'pulse.outcome': word,
      ...(typeof signal === 'string' ? { 'pulse.signal': signal } : {}),
      ...(typeof commit === 'string' ? { 'pulse.commit': commit } : {}),
    },
  };
}

function usageOf(usage: unknown): Span['attributes'] {
  const { costUsd, inputTokens, outputTokens } = (usage ?? {}) as Record<string, unknown>;
  return {
    ...(typeof inputTokens === 'number' ? { 'gen_ai.usage.input_tokens': inputTokens } : {}),
    ...(typeof outputTokens === 'number' ? { 'gen_ai.usage.output_tokens': outputTokens } : {}),
    ...(typeof costUsd === 'number' ? { 'pulse.cost_usd': costUsd } : {}),
  };
}

function hash(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
