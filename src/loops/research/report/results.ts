/** `autoresearch-results.tsv`: two header lines, then a row for the baseline and each experiment. */

import type { RowStatus } from '../ideas/stuck.ts';
import type { Direction } from '../measure/decision.ts';
import { formatDelta, formatFigure } from './figures.ts';

export interface ResultRow {
  /** 0 is the baseline. */
  iteration: number;
  /** `null`: not kept. */
  commit: string | null;
  /** `null`: a crash has none. */
  metric: number | null;
  /** Against the best before; `null`: a crash has none. */
  delta: number | null;
  status: RowStatus;
  description: string;
  commanderTaskId: string | null;
}

const COLUMNS = ['iteration', 'commit', 'metric', 'delta', 'status', 'description', 'commander_task_id'];
const SHORT_COMMIT = 7;

export function resultsHeader(direction: Direction): string {
  return `# metric_direction: ${direction}_is_better\n${COLUMNS.join('\t')}\n`;
}

export function resultLine(row: ResultRow): string {
  const fields = [
    String(row.iteration),
    row.commit?.slice(0, SHORT_COMMIT) ?? '-',
    row.metric === null ? '' : formatFigure(row.metric),
    formatDelta(row.delta),
    row.status,
    row.description,
    row.commanderTaskId ?? '',
  ];
  return `${fields.map(escapeField).join('\t')}\n`;
}

export function resultsFile(direction: Direction, rows: readonly ResultRow[]): string {
  return resultsHeader(direction) + rows.map(resultLine).join('');
}

/** A description is an agent's words: it must not begin a column or a row. */
function escapeField(text: string): string {
  const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
  return text
    .replace(/[\\\t\n\r]/g, (character) => escapes[character]!)
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ');
}
