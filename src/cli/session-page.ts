/** A session as one HTML file that needs nothing else and runs nothing: what was claimed, and what Pulse saw. */
import { html, raw } from 'hono/html';
import { afterSuffix, wayBack } from '../domain/after-words.ts';
import { formatTrust, trustOf } from '../domain/check-words.ts';
import { formatDuration } from '../domain/durations.ts';
import { unresolvedLines } from '../loops/workflow/unresolved.ts';
import type { SessionExport } from '../operations/export.ts';
import type { Iteration } from '../store/iterations.ts';
import type { StoredJudgement } from '../store/judgements.ts';
import type { StoredVerification } from '../store/verifications.ts';
import { createStyle } from '../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine } from '../terminal/text.ts';
import { eventText } from './event-text.ts';
import { iterationsText } from './follow/result.ts';
import { checksText, loopParts, runSpentText, spentText } from './session-page-loops.ts';
import { NO_RUNS, type ReportRuns, runParts } from './session-page-runs.ts';
import { NO_SOURCES, type ReportSources } from './session-page-sources.ts';
import { PAGE_STYLE } from './session-page-style.ts';

type Markup = ReturnType<typeof html>;

export interface PageChange {
  /** A patch; `null`: the repository no longer has it. */
  diff: string | null;
  isTruncated: boolean;
}

export interface PageParts {
  /** All that the session changed. */
  change: PageChange;
  sources?: ReportSources;
  runs?: ReportRuns;
}

export function sessionPage(
  content: SessionExport,
  { change, sources = NO_SOURCES, runs = NO_RUNS }: PageParts,
): string {
  const { session, iterations, unresolved, recovery } = content;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${sanitizeLine(session.goal)}</title>
<style>${raw(PAGE_STYLE)}</style>
</head>
<body>
<main>
<h1>${sanitizeLine(session.goal)}</h1>
${resultPart(content)}
${session.blocked_reason ? html`<h2>What stopped it</h2><pre>${sanitizeForTerminal(session.blocked_reason)}</pre>` : ''}
${listPart('Not resolved, and accepted so', unresolvedLines(unresolved))}
${listPart(
  'Work that was not taken over',
  recovery.map((ref) => `git show ${ref}, back by ${wayBack(ref)}`),
)}
${loopParts(sources, session)}
<h2>Timeline</h2>
${iterations.length === 0 ? html`<p>No iteration so far.</p>` : ''}
${iterations.map((row) => iterationPart(row, content, runs))}
<h2>Diff</h2>
${diffPart(change, session.base_sha)}
<h2>Events (UTC)</h2>
<details><summary>${content.events.length} events</summary><pre>${eventLines(content)}</pre></details>
<p class="note">Written by Pulse from its own records. <code>pulse verify ${session.id}</code> checks the evidence again.</p>
</main>
</body>
</html>
`;
  return String(page);
}

function resultPart({ session, workflow }: SessionExport): Markup {
  const trust = trustOf(session);
  const isDone = session.status === 'complete';
  const why = session.stop_reason && !isDone ? ` (${session.stop_reason})` : '';
  const verify = workflow ? workflow.checks.map(({ command }) => command) : session.verify;
  const rows: [string, string][] = [
    ['session', session.id],
    ['project', `${session.project_name} (${session.project_path})`],
    [
      'branch',
      `${session.branch_name}, from ${session.base_branch ?? 'a commit'} at ${session.base_sha.slice(0, 12)}`,
    ],
    ['agent', `${session.agent}${session.command ? `: ${session.command}` : ''}`],
    ['verification', checksText({ kind: session.kind, verify })],
    ['iterations', `${iterationsText(session)}, ${session.total_commits} commits`],
    ['spent', spentText(session)],
    [
      'time',
      `${formatDuration(session.running_ms)} running; ${session.created_at} to ${session.ended_at ?? 'now'}`,
    ],
  ];
  return html`<p class="headline"><strong class="${session.status}">${session.status}</strong>${why}${
    trust && isDone ? html`, <strong class="${trust}">${formatTrust(trust)}</strong>` : ''
  }${sanitizeLine(afterSuffix(session))}</p>
<table>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${sanitizeLine(value)}</td></tr>`)}</table>`;
}

function listPart(title: string, lines: readonly string[]): Markup | string {
  if (lines.length === 0) return '';
  return html`<h2>${title}</h2><ul>${lines.map((line) => html`<li>${sanitizeLine(line)}</li>`)}</ul>`;
}

function iterationPart(
  row: Iteration,
  { verifications, judgements }: SessionExport,
  runs: ReportRuns,
): Markup {
  const isOurs = ({ iteration }: { iteration: number }) => iteration === row.iteration_number;
  const word = row.outcome === 'rejected' ? 'COMPLETE, rejected' : (row.signal ?? row.outcome ?? row.status);
  const count = row.files_changed.length;
  return html`<section>
<h3>Iteration ${row.iteration_number} <span class="${row.outcome ?? ''}">${word}</span></h3>
<div class="sides">
<div><h4>The agent says</h4><pre>${sanitizeForTerminal(row.output_summary ?? 'nothing')}</pre></div>
<div><h4>Pulse saw</h4>
<ul>
<li>${row.commit_hash ? html`commit <code>${row.commit_hash.slice(0, 12)}</code>` : 'no commit'}</li>
<li>${count === 0 ? 'no file changed' : `${count} ${count === 1 ? 'file' : 'files'}: ${row.files_changed.map(sanitizeLine).join(', ')}`}</li>
<li>${runSpentText(row)}</li>
${verifications.filter(isOurs).map(checkPart)}
${judgements.filter(isOurs).map(judgementPart)}
</ul>
</div>
</div>
${runParts(row, runs)}
</section>`;
}

function checkPart({
  passed,
  command,
  exit,
  durationMs,
  tree,
  outputHash,
  outputTail,
}: StoredVerification): Markup {
  const end = exit === null ? 'did not finish' : `exit ${exit}`;
  return html`<li><span class="${passed ? 'good' : 'bad'}">${passed ? 'passed' : 'failed'}</span> <code>${sanitizeLine(command)}</code>, ${end}, ${formatDuration(durationMs)}
<details><summary>tree ${tree.slice(0, 12)}, output ${outputHash.slice(0, 12)}</summary><pre>${sanitizeForTerminal(outputTail)}</pre></details></li>`;
}

const VERDICTS = {
  accepted: ['good', 'accepted'],
  rejected: ['bad', 'not accepted'],
  ask: ['unsure', 'a person decides: the checks were changed'],
} as const;

function judgementPart({ verdict, reasons, decidedBy }: StoredJudgement): Markup {
  const [look, words] = VERDICTS[verdict];
  const who = decidedBy === null ? 'the referee' : sanitizeLine(decidedBy);
  return html`<li><span class="${look}">${words}</span>, by ${who}${
    reasons.length > 0
      ? html`<ul>${reasons.map((reason) => html`<li>${sanitizeLine(reason)}</li>`)}</ul>`
      : ''
  }</li>`;
}

function diffPart({ diff, isTruncated }: PageChange, baseSha: string): Markup {
  if (diff === null) return html`<p>The repository no longer has these commits.</p>`;
  if (diff === '') return html`<p>Nothing changed since <code>${baseSha.slice(0, 12)}</code>.</p>`;
  const lines = sanitizeForTerminal(diff).trimEnd().split('\n');
  return html`<pre class="diff">${lines.map(
    (line) => html`<span class="${lookOf(line)}">${line}
</span>`,
  )}</pre>${isTruncated ? html`<p class="note">The rest is left out.</p>` : ''}`;
}

function lookOf(line: string): string {
  if (line.startsWith('diff --git')) return 'file';
  if (line.startsWith('@@')) return 'place';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : '';
}

function eventLines({ events }: SessionExport): string {
  return events
    .filter(({ type }) => type !== 'agent.text' && type !== 'agent.usage')
    .map((event) => eventText(event, createStyle(false), { clock: (at) => at.slice(11, 19) }))
    .join('\n');
}
