/** The parts of a report that belong to a loop: the experiments of research with their plot, the beads of a swarm, what worked for it. */
import { html, raw } from 'hono/html';
import { formatDuration } from '../domain/durations.ts';
import { crashLine } from '../loops/research/measure/crash.ts';
import { formatDelta, formatFigure } from '../loops/research/report/figures.ts';
import { plotSvg } from '../loops/research/report/plot-svg.ts';
import type { Iteration } from '../store/iterations.ts';
import type { Session } from '../store/sessions.ts';
import { sanitizeForTerminal, sanitizeLine } from '../terminal/text.ts';
import { formatCount, formatUsd } from './follow/result.ts';
import { type ExperimentRow, experimentRows, metricOf } from './session-page-experiments.ts';
import type { BeadReport, Child, ReportSources, SwarmReport } from './session-page-sources.ts';

type Markup = ReturnType<typeof html>;

export function loopParts(
  { research, swarm, children }: ReportSources,
  session: Session,
): (Markup | string)[] {
  return [
    research === null || research.research.baseline === null ? '' : researchPart(research),
    swarm === null ? '' : swarmPart(swarm, children),
    children.length === 0 ? '' : childrenPart(children, session),
  ];
}

function researchPart(view: NonNullable<ReportSources['research']>): Markup {
  const { progress } = view;
  const { name, direction } = metricOf(view);
  const rows = experimentRows(view);
  const best = progress.best === null ? 'the baseline; nothing was kept' : `#${progress.best.iteration}`;
  const figure = (value: number | null): string => (value === null ? 'not measured' : formatFigure(value));
  return html`<h2>Experiments</h2>
<p>${sanitizeLine(name)} (${direction} is better): ${figure(progress.baseline)} at first, now ${figure(progress.metric)}. Best: ${best}. ${progress.keeps} kept, ${progress.discards} discarded, ${progress.crashes} crashed.</p>
<figure>
${raw(plotSvg({ metric: sanitizeLine(name), direction, rows }))}
</figure>
${table(
  ['#', 'commit', 'metric', 'delta', 'status', 'what was tried', 'why'],
  rows.map((row) => [
    String(row.iteration),
    code(row.commit?.slice(0, 7)),
    row.metric === null ? '–' : formatFigure(row.metric),
    formatDelta(row.delta),
    html`<span class="${row.status}">${row.status}</span>`,
    row.description,
    whyPart(row),
  ]),
)}`;
}

/** Of a crash, and of a guard that failed, the reason is all that was printed: the line that tells stands first. */
function whyPart(row: ExperimentRow): Markup | string {
  const first = whyLine(row);
  if (!row.reason.trim().includes('\n')) return first;
  return html`<details><summary>${first}</summary><pre>${sanitizeForTerminal(row.reason)}</pre></details>`;
}

export function whyLine({ status, reason }: Pick<ExperimentRow, 'status' | 'reason'>): string {
  return sanitizeLine(status === 'crash' ? crashLine(reason) : (reason.trim().split('\n')[0] ?? ''));
}

function swarmPart({ epic, beads, workers }: SwarmReport, children: readonly Child[]): Markup {
  const closed = beads.filter(({ status }) => status === 'closed').length;
  return html`<h2>Beads</h2>
<p>Epic ${sanitizeLine(epic)}: ${closed} of ${beads.length} closed, in the order in which they were merged.</p>
${table(['order', 'bead', 'status', 'worker', 'commit', 'verification', 'evidence'], beads.map(beadCells))}
<h2>Workers</h2>
${table(
  ['worker', 'session', 'status', 'its last window', 'handed over', 'spent'],
  workers.map((worker) => [
    sanitizeLine(worker.nickname),
    code(worker.sessionId),
    html`<span class="${worker.status}">${worker.status}</span>`,
    worker.contextUsed === null ? 'not told' : `${Math.round(worker.contextUsed * 100)} %`,
    sanitizeLine(worker.leftFor ?? '–'),
    spentText(children.find(({ id }) => id === worker.sessionId)),
  ]),
)}`;
}

function beadCells({
  merged,
  id,
  title,
  status,
  worker,
  commit,
  checks,
  evidence,
  reason,
}: BeadReport): Cell[] {
  return [
    merged === null ? '–' : String(merged),
    html`<code>${sanitizeLine(id)}</code> ${sanitizeLine(title)}`,
    html`<span class="${status === 'closed' ? 'good' : status === 'blocked' ? 'bad' : ''}">${sanitizeLine(status)}</span>${reason ? html`<br>${sanitizeLine(reason)}` : ''}`,
    sanitizeLine(worker ?? '–'),
    code(commit?.slice(0, 12)),
    checks.length === 0
      ? 'none'
      : html`<ul>${checks.map(
          ({ command, exit, passed }) =>
            html`<li><span class="${passed ? 'good' : 'bad'}">${passed ? 'passed' : 'failed'}</span> <code>${sanitizeLine(command)}</code>, ${exit === null ? 'did not finish' : `exit ${exit}`}</li>`,
        )}</ul>`,
    evidence.length === 0 ? '–' : html`${evidence.map((path) => html`<code>${sanitizeLine(path)}</code> `)}`,
  ];
}

/** A parent's spending is its own and that of all who work for it. */
function childrenPart(children: readonly Child[], session: Session): Markup {
  const usd = children.reduce((sum, child) => sum + child.spent_usd, 0);
  const tokens = children.reduce((sum, child) => sum + child.total_tokens_used, 0);
  const own = {
    spent_usd: Math.max(0, session.spent_usd - usd),
    total_tokens_used: Math.max(0, session.total_tokens_used - tokens),
  };
  const runs = (count: number): string => `${count} ${count === 1 ? 'run' : 'runs'}`;
  return html`<h2>What worked for it, and its cost</h2>
${table(
  ['session', 'name', 'agent', 'status', 'runs', 'running', 'spent'],
  [
    ...children.map((child) => [
      code(child.id),
      sanitizeLine(child.nickname ?? ''),
      sanitizeLine(child.agent),
      html`<span class="${child.status}">${child.status}</span>`,
      runs(child.current_iteration),
      formatDuration(child.running_ms),
      spentText(child),
    ]),
    [code(session.id), 'itself', session.agent, session.status, '', '', ownText(own)],
    ['', 'in all', '', '', '', '', spentText(session)],
  ],
)}`;
}

function ownText(own: Pick<Session, 'spent_usd' | 'total_tokens_used'>): string {
  return own.total_tokens_used === 0 && own.spent_usd === 0 ? 'nothing' : spentText(own);
}

/** What judged its work. */
export function checksText({ kind, verify }: Pick<Session, 'kind' | 'verify'>): string {
  if (verify.length > 0) return verify.join(', ');
  if (kind === 'beads') return 'each bead by its own commands';
  return kind === 'research' ? 'by its metric' : 'none was asked for';
}

export function spentText(spender: Pick<Session, 'spent_usd' | 'total_tokens_used'> | undefined): string {
  if (!spender) return 'not known';
  const cost = spender.spent_usd > 0 ? formatUsd(spender.spent_usd) : 'cost not known';
  return `${cost}, ${formatCount(spender.total_tokens_used)} tokens`;
}

/** Of one iteration. */
export function runSpentText({
  cost_usd: usd,
  input_tokens: input,
  output_tokens: output,
}: Pick<Iteration, 'cost_usd' | 'input_tokens' | 'output_tokens'>): string {
  return spentText({ spent_usd: usd ?? 0, total_tokens_used: input + output });
}

type Cell = Markup | string;

function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): Markup {
  return html`<div class="wide"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;
}

function code(text: string | undefined): Cell {
  return text ? html`<code>${sanitizeLine(text)}</code>` : '–';
}
