/** How near a session is to what ends it: its agent's window, its budget, its idle limit, refused claims. Pure. */
import { formatDuration } from '../../domain/durations.ts';
import { formatFigure } from '../../loops/research/report/figures.ts';
import type { Session } from '../../store/sessions.ts';
import { displayWidth } from '../../terminal/text.ts';
import type { Progress } from './progress.ts';
import { formatCount } from './result.ts';

/** A goal is stopped by so many refused claims in a row. */
const MOST_REJECTIONS = 3;
const BAR_CELLS = 8;

/** One line of those that are known, the most telling first; `''`: none is. What has no room is left out whole. */
export function gaugeLine(
  progress: Progress,
  session: Session,
  { columns, nowMs }: { columns: number; nowMs: number },
): string {
  let line = '';
  for (const gauge of gaugesOf(progress, session, nowMs)) {
    const longer = line === '' ? gauge : `${line} · ${gauge}`;
    if (displayWidth(longer) <= columns) line = longer;
  }
  return line;
}

function gaugesOf(progress: Progress, session: Session, nowMs: number): string[] {
  const { rejections, files, kind } = progress;
  const count = files.size;
  return [
    ...(rejections > 0
      ? [
          rejections > MOST_REJECTIONS || kind !== 'goal'
            ? `rejected ${rejections} times in a row`
            : `rejected ${rejections}/${MOST_REJECTIONS}`,
        ]
      : []),
    ...contextGauge(progress),
    ...budgetGauge(progress, session),
    ...idleGauge(progress, session, nowMs),
    ...readings(progress),
    ...(count > 0 ? [`${count} ${count === 1 ? 'file' : 'files'} so far`] : []),
  ];
}

function contextGauge({ context, step }: Progress): string[] {
  if (context === null || step === 'waiting') return [];
  const { tokens, window } = context;
  return [window === null ? `context ${formatCount(tokens)} tokens` : `context ${bar(tokens / window)}`];
}

/** Of several limits the one that is reached first, as far as that is known. */
function budgetGauge({ spentUsd, tokens }: Progress, session: Session): string[] {
  const {
    budget_usd: usd,
    budget_tokens: mostTokens,
    time_limit_ms: timeMs,
    running_ms: runningMs,
  } = session;
  const shares: [number, string][] = [
    ...(usd ? [[spentUsd / usd, 'cost'] as [number, string]] : []),
    ...(mostTokens ? [[tokens / mostTokens, 'tokens'] as [number, string]] : []),
    ...(timeMs ? [[runningMs / timeMs, 'time'] as [number, string]] : []),
  ];
  const [highest] = shares.sort(([a], [b]) => b - a);
  return highest && highest[0] > 0 ? [`budget ${bar(highest[0])} of ${highest[1]}`] : [];
}

/** The agent is ended when it says nothing for so long. */
function idleGauge(
  { step, runsWithoutAgent, lastSignMs, doing }: Progress,
  { idle_timeout_ms: limitMs }: Session,
  nowMs: number,
): string[] {
  if (!limitMs || runsWithoutAgent || doing !== null || (step !== 'agent' && step !== 'preparing')) return [];
  // Whole seconds: tenths would be drawn again and again.
  const seconds = Math.floor(Math.max(0, nowMs - lastSignMs) / 1_000);
  const quiet = seconds < 60 ? `${seconds}s` : formatDuration(seconds * 1_000);
  return [`idle ${cells((seconds * 1_000) / limitMs)} ${quiet} of ${formatDuration(limitMs)}`];
}

function readings({ newest, best }: Progress): string[] {
  const told = (word: string, { experiment, metric }: NonNullable<Progress['best']>): string =>
    `${word} ${formatFigure(metric)} (#${experiment})`;
  return [
    ...(best ? [told('best', best)] : []),
    ...(newest && newest.experiment !== best?.experiment ? [told('last', newest)] : []),
  ];
}

function bar(share: number): string {
  return `${cells(share)} ${Math.round(share * 100)}%`;
}

/** Never full before it is over, and never empty once it has begun. */
function cells(share: number): string {
  const exact = Math.min(1, Math.max(0, share)) * BAR_CELLS;
  const full = exact > 0 && exact < 1 ? 1 : Math.floor(exact);
  return '▰'.repeat(full) + '▱'.repeat(BAR_CELLS - full);
}
