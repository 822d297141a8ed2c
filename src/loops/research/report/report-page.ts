/** `pulse research report`: one HTML file that needs nothing else and runs nothing. */

import type { TriedStrategy } from '../ideas/strategy.ts';
import { crashLine } from '../measure/crash.ts';
import type { Direction } from '../measure/decision.ts';
import { escapeMarkup } from './escape.ts';
import { formatDelta, formatFigure, formatShare } from './figures.ts';
import type { PlotRow } from './plot.ts';
import { plotSvg } from './plot-svg.ts';
import type { Progress } from './progress.ts';
import { REPORT_STYLE } from './report-style.ts';
import type { ResultRow } from './results.ts';

export interface ReportRow extends ResultRow, Omit<PlotRow, keyof ResultRow> {
  /** Why it was kept, discarded or crashed, in a sentence. */
  reason: string;
  isSurprising: boolean;
}

export interface ReportData {
  /** Instead of the usual title. */
  title?: string;
  /** What the caller of `show_report` adds; plain text. */
  summary?: string;
  goal: string;
  sessionId: string;
  metric: { name: string; direction: Direction; verifyCommand: string; target: number | null };
  baselineCommit: string;
  progress: Progress;
  rows: readonly ReportRow[];
  strategy: readonly TriedStrategy[];
  /** Each kept experiment's diff, and all of them together against the baseline commit. */
  diffs: readonly { iteration: number; diff: string }[];
  totalDiff: string;
}

export function reportHtml(data: ReportData): string {
  const title = escapeMarkup(data.title ?? `Autoresearch Complete: ${data.goal}`);
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${title}</title>`,
    `<style>${REPORT_STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${title}</h1>`,
    ...(data.summary ? [section('Summary', `<pre>${escapeMarkup(data.summary)}</pre>`)] : []),
    section('Results', results(data)),
    section('Plan vs. Reality', planAndReality(data)),
    section('Kept Changes', keptChanges(data)),
    section("What Didn't Work", whatDidNotWork(data)),
    '</main>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function section(heading: string, content: string): string {
  return `<section>\n<h2>${escapeMarkup(heading)}</h2>\n${content}\n</section>`;
}

function results({ progress, metric, rows, sessionId, baselineCommit }: ReportData): string {
  const { baseline, metric: final, iteration, keeps, discards, crashes, best } = progress;
  return [
    `<p class="headline">Baseline: ${formatFigure(baseline)} → Final: ${formatFigure(final)} (delta: ${formatDelta(final - baseline)})${shareOf(final - baseline, baseline)}</p>`,
    `<p><strong>Iterations:</strong> ${iteration} total (${keeps} keeps, ${discards} discards, ${crashes} crashes)</p>`,
    `<p><strong>Best:</strong> ${best ? `#${best.iteration} — ${escapeMarkup(best.description)}` : 'the baseline; nothing was kept'}</p>`,
    `<figure>\n${plotSvg({ metric: metric.name, direction: metric.direction, rows })}\n</figure>`,
    `<p class="note">Session ${escapeMarkup(sessionId)}, from commit ${escapeMarkup(baselineCommit)}; measured by <code>${escapeMarkup(metric.verifyCommand)}</code>${metric.target === null ? '' : `; target ${formatFigure(metric.target)}`}.</p>`,
    experimentTable(rows),
  ].join('\n');
}

function shareOf(delta: number, baseline: number): string {
  return baseline === 0 || delta === 0
    ? ''
    : ` <span class="note">${formatShare(delta / Math.abs(baseline))}</span>`;
}

/** A void experiment is never surprising. */
function isSurprise({ status, isSurprising }: ReportRow): boolean {
  return status === 'keep' && isSurprising;
}

function experimentTable(rows: readonly ReportRow[]): string {
  const heads = ['#', 'commit', 'metric', 'delta', 'status', 'description', 'why'];
  const lines = rows.map((row) => {
    const cells = [
      String(row.iteration),
      row.commit?.slice(0, 7) ?? '-',
      row.metric === null ? '' : formatFigure(row.metric),
      formatDelta(row.delta),
      isSurprise(row) ? `${row.status}, surprising` : row.status,
      row.description,
    ];
    const told = cells.map((cell) => `<td>${escapeMarkup(cell)}</td>`).join('');
    return `<tr class="${row.status}">${told}<td>${why(row)}</td></tr>`;
  });
  return [
    '<div class="wide"><table>',
    `<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>`,
    `<tbody>\n${lines.join('\n')}\n</tbody>`,
    '</table></div>',
  ].join('\n');
}

/** A crash's reason is all that was printed: the line that tells stands first, the rest can be opened. */
function why({ status, reason }: ReportRow): string {
  if (status !== 'crash') return escapeMarkup(reason);
  const short = escapeMarkup(crashLine(reason));
  return reason.includes('\n')
    ? `<details><summary>${short}</summary><pre>${escapeMarkup(reason)}</pre></details>`
    : short;
}

function planAndReality({ strategy, rows }: ReportData): string {
  const statusOf = new Map(rows.map((row) => [row.iteration, row.status]));
  const items = strategy.map(({ text, iterations }) => {
    const told = iterations
      .map((iteration) => `#${iteration} ${statusOf.get(iteration) ?? ''}`.trim())
      .join(', ');
    return `<li>${escapeMarkup(text)}: <strong>${iterations.length > 0 ? 'tried' : 'untried'}</strong>${told === '' ? '' : ` (${escapeMarkup(told)})`}</li>`;
  });
  const planned = new Set(strategy.flatMap(({ iterations }) => iterations));
  const unplanned = rows.filter(({ iteration, status }) => status !== 'baseline' && !planned.has(iteration));
  const surprising = rows.filter(isSurprise);
  return [
    items.length > 0 ? `<ul>\n${items.join('\n')}\n</ul>` : '<p>The plan named no strategy.</p>',
    `<p>${unplanned.length} of ${rows.length - 1} experiments were not in the plan. <span class="note">The words of the descriptions show what was tried.</span></p>`,
    surprising.length > 0 ? `<p>Surprising:</p>\n${listOf(surprising)}` : '<p>Nothing was surprising.</p>',
  ].join('\n');
}

function keptChanges({ rows, diffs, totalDiff }: ReportData): string {
  const diffOf = new Map(diffs.map(({ iteration, diff }) => [iteration, diff]));
  const kept = rows.filter(({ status }) => status === 'keep');
  if (kept.length === 0) return '<p>Nothing was kept.</p>';
  const items = kept.map((row) => {
    const diff = diffOf.get(row.iteration);
    return `<li>${escapeMarkup(`#${row.iteration} — ${row.description}`)} <span class="note">${escapeMarkup(row.reason)}</span>${diff === undefined ? '' : diffBlock('Diff', diff)}</li>`;
  });
  return `<ul>\n${items.join('\n')}\n</ul>\n${diffBlock('All kept changes against the baseline commit', totalDiff)}`;
}

function whatDidNotWork({ rows }: ReportData): string {
  const failed = rows.filter(({ status }) => status === 'discard' || status === 'crash');
  return failed.length === 0 ? '<p>Everything that was tried was kept.</p>' : listOf(failed);
}

function listOf(rows: readonly ReportRow[]): string {
  const items = rows.map(
    ({ iteration, description, status, reason }) =>
      `<li>${escapeMarkup(`#${iteration} — ${description}`)} <span class="note">${escapeMarkup(status === 'crash' ? crashLine(reason) : reason)}</span></li>`,
  );
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

function diffBlock(summary: string, diff: string): string {
  const lines = diff.split('\n').map((line) => {
    const kind = lineKind(line);
    return kind === null ? escapeMarkup(line) : `<span class="${kind}">${escapeMarkup(line)}</span>`;
  });
  return `<details><summary>${escapeMarkup(summary)}</summary><pre>${lines.join('\n')}</pre></details>`;
}

function lineKind(line: string): string | null {
  if (/^(?:diff |index |--- |\+\+\+ |@@)/.test(line)) return 'place';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : null;
}
