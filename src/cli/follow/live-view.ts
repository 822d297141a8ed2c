import { formatDuration } from '../../domain/durations.ts';
import { wordsFor } from '../../loops/words.ts';
import type { Session } from '../../store/sessions.ts';
import { limitFrames } from '../../terminal/frames.ts';
import type { Style } from '../../terminal/style.ts';
import { displayWidth, sanitizeLine, shorten, wrap } from '../../terminal/text.ts';
import type { Side } from '../output.ts';
import { requestText, waitingText } from '../waiting-text.ts';
import { gaugeLine } from './gauges.ts';
import { eventLines } from './lines.ts';
import { createLiveRegion } from './live-region.ts';
import { advance, firstProgress, type Progress, withSession } from './progress.ts';
import { formatCount, formatUsd } from './result.ts';
import type { View, ViewOptions } from './view.ts';

const SPIN_MS = 125;
/** Where only time passes. */
const SLOW_SPIN_MS = 1_000;
const LOOKED_AT_MS = 30_000;
/** Rows of the terminal that a board leaves free. */
const HEIGHT_LEFT = 8;
/** Of a terminal that does not say how high it is. */
const USUAL_ROWS = 24;
/** Saving is quick; what takes longer after the agent is the verification. */
const SAVING_MS = 600;

/** Redrawn in place; settled iterations scroll above it, one line each. */
export function createLiveView(side: Side, session: Session, options: ViewOptions): View {
  let progress = firstProgress(session, options.plan);
  let newest = session;
  let question: readonly string[] | null = null;
  let isHeaded = !options.hasHead;
  const beganMs = Date.now();
  let board: readonly string[] = [];
  let isExpanded = false;
  /** What stays, and is not shown yet: it is when the next frame is drawn. */
  let above: string[] = [];
  const region = createLiveRegion(side);
  const room = (): number => side.columns() - 1;
  const paint = (): void => {
    const frame = { style: side.style, columns: room(), nowMs: Date.now() };
    const told = isExpanded ? expandedLines(progress, { ...frame, rows: rowsLeft() }) : [];
    const lines = [...liveLines(progress, newest, frame), ...told, ...shownBoard()];
    region.draw(
      question === null ? lines : [...lines, ...questionLines(question, room()).map(side.style.bold)],
      above,
    );
    above = [];
  };
  /** What is above it must stay in sight. */
  const rowsLeft = (): number => Math.max(1, (side.stream.rows || USUAL_ROWS) - HEIGHT_LEFT);
  const shownBoard = (): readonly string[] =>
    progress.step === 'stopped' || isExpanded ? [] : board.slice(0, rowsLeft());
  const frames = limitFrames(paint);
  const draw = (): void => frames.ask();
  const print = (lines: readonly string[]): void => {
    above.push(...lines);
    draw();
  };
  const timer = setInterval(draw, SPIN_MS);
  side.stream.on('resize', draw);
  return {
    event(event) {
      const hadStopped = progress.step === 'stopped';
      progress = advance(progress, event);
      if (!isHeaded) print(headLines(newest, { style: side.style, columns: room() }, options));
      isHeaded = true;
      const lines = eventLines(event, progress, { style: side.style, columns: room() });
      if (lines.length > 0) print(lines);
      // Who has just come is still looking.
      if (progress.step === 'stopped' && !hadStopped && Date.now() - beganMs >= LOOKED_AT_MS)
        side.call(`${event.type.split('.')[1]}: ${newest.goal}`);
    },
    session(now, request) {
      newest = now;
      progress = withSession(progress, now, request);
      draw();
    },
    async board(read) {
      board = await read({ style: side.style, columns: room(), nowMs: Date.now() });
      draw();
    },
    say: (text) => print(text.split('\n')),
    toggle() {
      isExpanded = !isExpanded;
      draw();
    },
    ask(text) {
      question = text;
      draw();
    },
    close() {
      clearInterval(timer);
      side.stream.off('resize', draw);
      frames[Symbol.dispose]();
      paint();
      region.close();
    },
  };
}

interface Frame {
  style: Style;
  columns: number;
  nowMs: number;
}

/** What Ctrl-C does differs: who only watches decides nothing by it. */
const KEYS = {
  asks: '  e: more of the agent · Ctrl-C: pause, detach, abort',
  leaves: '  e: more of the agent · Ctrl-C: stop watching, the session continues',
} as const;

function headLines(
  session: Session,
  { style, columns }: Omit<Frame, 'nowMs'>,
  { interrupt, page }: Pick<ViewOptions, 'interrupt' | 'page'>,
): string[] {
  return [
    style.bold(shorten(`▸ ${sanitizeLine(session.goal)}`, columns)),
    style.dim(shorten(`  ${session.id} · ${session.agent} on ${session.branch_name}`, columns)),
    // Whole, however narrow the terminal: half an address leads nowhere.
    ...(page ? [style.dim(`  ${page}`)] : []),
    ...(interrupt ? [style.dim(shorten(KEYS[interrupt], columns))] : []),
  ];
}

/** What the agent has said and done, as much of it as there is room for. */
function expandedLines(
  { step, told }: Pick<Progress, 'step' | 'told'>,
  { style, columns, rows }: Omit<Frame, 'nowMs'> & { rows: number },
): string[] {
  if (step === 'stopped') return [];
  return told
    .flatMap(({ text, isTool }) =>
      isTool
        ? [style.dim(`  · ${shorten(text, columns - 4)}`)]
        : wrap(text, columns - 4, rows).map((line) => `  │ ${line}`),
    )
    .slice(-rows);
}

/** A few lines: where the session stands, how near it is to its limits, what the agent does. Exported for its test. */
export function liveLines(progress: Progress, session: Session, { style, columns, nowMs }: Frame): string[] {
  if (progress.step === 'stopped') return [];
  const spinMs = progress.step === 'waiting' ? SLOW_SPIN_MS : SPIN_MS;
  const frame = SPINNER[Math.floor(nowMs / spinMs) % SPINNER.length]!;
  const attempt = progress.attempt > 1 ? ` (attempt ${progress.attempt})` : '';
  const where = progress.iteration === 0 ? '' : `${wordsFor(progress.kind).place(progress)}${attempt} · `;
  const step = `${where}${stepLabel(progress, session, nowMs)}`;
  const facts = [
    formatDuration(Math.max(0, nowMs - progress.iterationSinceMs)),
    ...(progress.spentUsd > 0
      ? [spentOf(formatUsd(progress.spentUsd), session.budget_usd, plainNumber)]
      : []),
    ...(progress.tokens > 0
      ? [`${spentOf(formatCount(progress.tokens), session.budget_tokens, formatCount)} tokens`]
      : []),
    ...(isQuiet(progress, nowMs) ? [`quiet for ${formatDuration(nowMs - progress.lastSignMs)}`] : []),
    ...(progress.lastSignal && wordsFor(progress.kind).hasSignals ? [`last ${progress.lastSignal}`] : []),
  ].join(' · ');
  const shownStep = shorten(step, columns - 2);
  const shownFacts = shorten(` · ${facts}`, columns - 2 - shownStep.length);
  const lines = [`${style.cyan(frame)} ${shownStep}${style.dim(shownFacts)}`];
  const asked = requestText(progress.request);
  if (asked) lines.push(style.yellow(shorten(`  it ${asked}`, columns)));
  const gauges = gaugeLine(progress, session, { columns: columns - 2, nowMs });
  if (gauges !== '') lines.push(`  ${style.dim(gauges)}`);
  if (progress.activity) lines.push(style.dim(`  ${shorten(progress.activity, columns - 2)}`));
  // What it said last stays in sight while it calls its tools.
  if (progress.said && progress.said !== progress.activity)
    lines.push(style.dim(`  “${shorten(progress.said, columns - 4)}”`));
  return lines;
}

/** An agent that has not been heard of for so long is said to be quiet. */
const QUIET_AFTER_MS = 10_000;

function isQuiet({ kind, step, lastSignMs }: Progress, nowMs: number): boolean {
  // Others work for it, and their signs are their own.
  if (step === 'planning' && wordsFor(kind).between !== undefined) return false;
  return step !== 'waiting' && nowMs - lastSignMs >= QUIET_AFTER_MS;
}

function spentOf(spent: string, limit: number | null | undefined, format: (limit: number) => string): string {
  return limit === null || limit === undefined ? spent : `${spent}/${format(limit)}`;
}

function plainNumber(amount: number): string {
  return String(Math.round(amount * 100) / 100);
}

/** As many answers on a line as fit: none may be cut off. */
export function questionLines(answers: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const answer of answers) {
    const longer = lines.length === 0 ? answer : `${lines.at(-1)} · ${answer}`;
    if (lines.length > 0 && displayWidth(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(shorten(answer, columns));
  }
  return lines;
}

function stepLabel(progress: Progress, session: Session, nowMs: number): string {
  const { step, stepSinceMs, resumeAtMs } = progress;
  const words = wordsFor(progress.kind);
  if (progress.doing !== null)
    return `${progress.doing} (${formatDuration(Math.max(0, nowMs - stepSinceMs))})`;
  switch (step) {
    case 'starting':
      return 'starting';
    case 'planning':
      return words.between ?? 'planning';
    case 'preparing':
      if (progress.runsWithoutAgent) return words.alone(progress).doing;
      return nowMs - stepSinceMs < 2_000 ? 'starting the agent' : 'agent working';
    case 'agent':
      return 'agent working';
    case 'saving':
      if (words.afterAgent) return words.afterAgent;
      if (session.verify.length === 0 || nowMs - stepSinceMs < SAVING_MS) return 'saving the work';
      return `verifying ${sanitizeLine(session.verify[0]!)}`;
    case 'verified':
      return 'settling';
    case 'waiting':
      if (progress.waiting) return waitingText(progress.waiting, nowMs);
      return `waiting ${formatDuration(Math.max(0, (resumeAtMs ?? nowMs) - nowMs))}`;
    case 'stopped':
      return 'stopped';
  }
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
