/** What a session is doing right now, folded from its events. Pure: every view draws from it. */
import type { PulseEvent } from '../../domain/events.ts';
import { type Phase, phaseWords, queuedWords } from '../../domain/phase.ts';
import { followerFor } from '../../loops/followers.ts';
import type { Waiting } from '../../operations/view.ts';
import type { Session, SessionRequest } from '../../store/sessions.ts';
import { sanitizeLine } from '../../terminal/text.ts';
import { waitOfEvent } from '../waiting-text.ts';
import { type JudgementTold, judgementTold } from './judgement-told.ts';

export type Step =
  | 'starting'
  | 'planning'
  | 'preparing'
  | 'agent'
  | 'saving'
  | 'verified'
  | 'waiting'
  | 'stopped';

export interface FailedCheck {
  command: string;
  exit: number | null;
  /** The lines of its output that say what is wrong. */
  output: string[];
}

export interface Progress {
  kind: Session['kind'];
  /** What the current iteration stands for; `null`: itself. */
  unit: string | null;
  iteration: number;
  maxIterations: number;
  attempt: number;
  /** What is to come, as far as that is known. */
  plan: WorkPlan;
  /** No agent runs in it: Pulse prepares the worktree, or reads the metric. */
  runsWithoutAgent: boolean;
  step: Step;
  /** When the step began; for `waiting` it ends at `resumeAtMs`. */
  stepSinceMs: number;
  iterationSinceMs: number;
  /** What `waiting` waits for; `null` where that is not known. */
  waiting: Waiting | null;
  resumeAtMs: number | null;
  /** What is told of it in words, where the step alone does not say it: a command that is run. */
  doing: string | null;
  /** When anything was last heard of the attempt. */
  lastSignMs: number;
  /** The agent's last tool call or line. */
  activity: string | null;
  /** The agent's latest sentence. */
  said: string | null;
  /** What it said and did in this iteration, line by line, newest last; the last of it. */
  told: readonly ToldLine[];
  lastSignal: string | null;
  /** Of the current iteration, once verified. */
  failedChecks: FailedCheck[];
  judgement: JudgementTold | null;
  spentUsd: number;
  tokens: number;
  /** How full the agent's window is; `null`: it does not tell. */
  context: { tokens: number; window: number | null } | null;
  /** Everything that its settled iterations have changed. */
  files: ReadonlySet<string>;
  /** What it was asked for and has not done yet. */
  request: SessionRequest | null;
  /** Claims that were refused, one after the other. */
  rejections: number;
  /** Of research: the newest experiment that was measured, and the best that was kept. */
  newest: Reading | null;
  best: Reading | null;
}

export interface Reading {
  experiment: number;
  metric: number;
}

export interface ToldLine {
  text: string;
  isTool: boolean;
}

export interface WorkPlan {
  /** What its iterations stand for, in order, where that is planned. */
  units: readonly string[];
  /** How many there are to be; `null`: no end is set. */
  total: number | null;
}
const NO_PLAN: WorkPlan = { units: [], total: null };

/** Of an iteration that has just begun. */
const NOTHING_TOLD = {
  activity: null,
  said: null,
  told: [],
  failedChecks: [],
  judgement: null,
  context: null,
} satisfies Partial<Progress>;

export function firstProgress(session: Session, plan: WorkPlan = NO_PLAN): Progress {
  const since = Date.parse(session.created_at);
  return {
    kind: session.kind,
    unit: null,
    iteration: session.current_iteration,
    maxIterations: session.max_iterations,
    attempt: 1,
    plan,
    runsWithoutAgent: false,
    step: 'starting',
    stepSinceMs: since,
    iterationSinceMs: since,
    waiting: null,
    resumeAtMs: null,
    doing: null,
    lastSignMs: since,
    ...NOTHING_TOLD,
    lastSignal: session.last_signal,
    spentUsd: session.spent_usd,
    tokens: session.total_tokens_used,
    files: new Set(),
    request: null,
    rejections: 0,
    newest: null,
    best: null,
  };
}

/** What only the row knows: spending, limits, files of iterations that were not followed. */
export function withSession(
  progress: Progress,
  session: Session,
  request: SessionRequest | null = null,
): Progress {
  const { max_iterations: maxIterations, spent_usd: spentUsd, total_tokens_used: tokens } = session;
  const files = withFiles(
    progress.files,
    session.progress_log.flatMap((entry) => entry.files),
  );
  return { ...progress, maxIterations, spentUsd, tokens, files, request };
}

function withFiles(known: ReadonlySet<string>, files: readonly unknown[]): ReadonlySet<string> {
  const fresh = files.map(String).filter((file) => !known.has(file));
  return fresh.length === 0 ? known : new Set([...known, ...fresh]);
}

export function advance(progress: Progress, event: PulseEvent): Progress {
  const at = Date.parse(event.at);
  const enter = (step: Step, change: Partial<Progress> = {}): Progress => ({
    ...progress,
    step,
    stepSinceMs: progress.step === step && progress.doing === null ? progress.stepSinceMs : at,
    doing: null,
    lastSignMs: at,
    waiting: null,
    resumeAtMs: null,
    ...change,
  });
  const { data } = event;
  switch (event.type) {
    case 'session.started':
    case 'session.resumed':
      return enter('planning', { iterationSinceMs: at });
    case 'iteration.planned':
      return enter('planning', {
        iteration: event.iteration ?? progress.iteration,
        unit: typeof data.unit === 'string' ? data.unit : null,
        iterationSinceMs: at,
        attempt: 1,
        ...NOTHING_TOLD,
      });
    case 'iteration.started':
      return enter('preparing', {
        attempt: Number(data.attempt ?? 1),
        runsWithoutAgent: data.byPulse === true,
        activity: null,
      });
    case 'agent.text':
    case 'agent.tool':
      return enter('agent', {
        activity: activityOf(event) ?? progress.activity,
        said: sentenceOf(event) ?? progress.said,
        told: [...progress.told, ...newsOf(event)].slice(-MOST_TOLD),
      });
    case 'iteration.progress': {
      if (data.phase === 'agent') return enter('agent');
      const doing = sanitizeLine(phaseWords(data.phase as Phase, data.command));
      return { ...progress, doing, stepSinceMs: at, lastSignMs: at };
    }
    case 'agent.usage':
      return enter('agent', { context: contextOf(data) ?? progress.context });
    case 'agent.compacted':
    case 'agent.denied':
      return enter('agent');
    case 'agent.retry':
    case 'agent.limit':
      return enter('agent', {
        activity: sanitizeLine(String(data.message ?? 'the model service is asked again')),
      });
    case 'iteration.ended':
      return enter('saving', { activity: null });
    case 'iteration.verified':
      return enter('verified', {
        failedChecks: failedChecks(data.commands),
        judgement: judgementTold(data),
      });
    case 'agent.queued':
      return { ...enter('waiting', { activity: null }), doing: queuedWords(data) };
    case 'agent.waiting':
      return enter('waiting', {
        waiting: waitOfEvent(event),
        resumeAtMs: Date.parse(String(data.until)),
        activity: null,
      });
    case 'iteration.retried': {
      const delayMs = Number(data.delayMs ?? 0);
      return enter(delayMs > 0 ? 'waiting' : 'planning', {
        attempt: Number(data.attempt ?? 1),
        waiting: delayMs > 0 ? waitOfEvent(event) : null,
        resumeAtMs: delayMs > 0 ? at + delayMs : null,
        activity: null,
      });
    }
    case 'iteration.settled':
      return enter('planning', {
        activity: null,
        iterationSinceMs: at,
        files: withFiles(progress.files, Array.isArray(data.files) ? data.files : []),
        rejections: data.outcome === 'rejected' ? progress.rejections + 1 : 0,
      });
    case 'session.ended':
    case 'session.blocked':
    case 'session.failed':
    case 'session.paused':
    case 'session.aborted':
      return enter('stopped');
    default:
      return besideSteps(progress, event);
  }
}

/** What an event tells that begins no step. */
function besideSteps(progress: Progress, event: PulseEvent): Progress {
  if (event.type === 'signal.received') return { ...progress, lastSignal: String(event.data.signal) };
  const lastSignMs = Date.parse(event.at);
  if (event.type === 'experiment.kept' || event.type === 'experiment.discarded') {
    const newest = readingOf(event.data) ?? progress.newest;
    const best = event.type === 'experiment.kept' ? newest : progress.best;
    return { ...progress, lastSignMs, newest, best };
  }
  const activity = followerFor(progress.kind).activity?.(event) ?? null;
  return activity === null ? progress : { ...progress, lastSignMs, activity };
}

function contextOf({ contextTokens, contextWindow }: Record<string, unknown>): Progress['context'] {
  if (typeof contextTokens !== 'number') return null;
  const isKnown = typeof contextWindow === 'number' && contextWindow > 0;
  return { tokens: contextTokens, window: isKnown ? contextWindow : null };
}

function readingOf({ number, metric }: Record<string, unknown>): Reading | null {
  return typeof number === 'number' && typeof metric === 'number' ? { experiment: number, metric } : null;
}

/** One line on what the agent does; `null` where the event says nothing to a person. */
function activityOf({ type, data }: PulseEvent): string | null {
  if (type === 'agent.tool') {
    if (data.phase !== 'start') return null;
    return toolLine(data) || null;
  }
  const lines = shownLines(String(data.text ?? ''));
  return lines.at(-1) ?? null;
}

/** Some agents repeat the tool's name in what they say about the call. */
export function toolLine({ name, summary }: Record<string, unknown>): string {
  const [tool, about] = [sanitizeLine(String(name ?? '')), sanitizeLine(String(summary ?? ''))];
  return about.startsWith(tool) ? about : `${tool} ${about}`.trim();
}

/** More than a terminal shows. */
const MOST_TOLD = 100;

function newsOf(event: PulseEvent): ToldLine[] {
  if (event.type === 'agent.text')
    return shownLines(String(event.data.text ?? '')).map((text) => ({ text, isTool: false }));
  const text = activityOf(event);
  return text === null ? [] : [{ text, isTool: true }];
}

/** The last that it said to people, without protocol tags. */
export function sentenceOf({ type, data }: PulseEvent): string | null {
  return type === 'agent.text' ? (shownLines(String(data.text ?? '')).at(-1) ?? null) : null;
}

function shownLines(text: string): string[] {
  return text
    .split('\n')
    .map(sanitizeLine)
    .filter((line) => line !== '' && !/^<\/?\w+>?.*<\/\w+>$/.test(line));
}

function failedChecks(commands: unknown): FailedCheck[] {
  if (!Array.isArray(commands)) return [];
  return commands
    .filter((check) => check?.passed === false)
    .map((check) => ({
      command: sanitizeLine(String(check.command)),
      exit: check.exit as number | null,
      output: Array.isArray(check.output)
        ? check.output.map((line: unknown) => sanitizeLine(String(line)))
        : [],
    }));
}
