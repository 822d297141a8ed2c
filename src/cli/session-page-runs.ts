/** What an agent was told in each iteration, and what it printed: folded up, and within bounds. */
import { html } from 'hono/html';
import { formatDuration } from '../domain/durations.ts';
import type { SessionExport } from '../operations/export.ts';
import type { Pulse } from '../pulse.ts';
import type { Iteration } from '../store/iterations.ts';
import { sanitizeForTerminal, sanitizeLine } from '../terminal/text.ts';

type Markup = ReturnType<typeof html>;
type Transcript = Awaited<ReturnType<Pulse['transcript']>>;

/** By the iteration's number. What is not here was left out. */
export interface ReportRuns {
  briefs: ReadonlyMap<number, string>;
  transcripts: ReadonlyMap<number, Transcript>;
}

export const NO_RUNS: ReportRuns = { briefs: new Map(), transcripts: new Map() };

/** More than anybody reads in a report. */
const MOST_BRIEFS = 1024 * 1024;
const MOST_TRANSCRIPTS = 2 * 1024 * 1024;
/** Of one iteration. */
const MOST_ENTRIES = 1_000;

/** The newest iterations first: what does not fit is of the oldest. */
export async function readRuns(
  pulse: Pick<Pulse, 'transcript'>,
  { session, iterations }: Pick<SessionExport, 'session' | 'iterations'>,
): Promise<ReportRuns> {
  const briefs = new Map<number, string>();
  const transcripts = new Map<number, Transcript>();
  let [briefSize, transcriptSize] = [0, 0];
  for (const { iteration_number: iteration, task_content: brief } of iterations.toReversed()) {
    briefSize += brief.length;
    if (briefSize <= MOST_BRIEFS) briefs.set(iteration, brief);
    if (transcriptSize > MOST_TRANSCRIPTS) continue;
    const told = await pulse.transcript(session.id, { iteration, limit: MOST_ENTRIES });
    for (const { text } of told.entries) transcriptSize += text.length;
    if (transcriptSize <= MOST_TRANSCRIPTS) transcripts.set(iteration, told);
  }
  return { briefs, transcripts };
}

export function runParts(
  { iteration_number: iteration, context_tokens: tokens }: Iteration,
  { briefs, transcripts }: ReportRuns,
): Markup {
  const brief = briefs.get(iteration);
  const transcript = transcripts.get(iteration);
  return html`${
    brief === undefined
      ? leftOut('brief')
      : html`<details><summary>Brief, ${tokens} tokens</summary><pre>${sanitizeForTerminal(brief)}</pre></details>`
  }
${transcript === undefined ? leftOut('transcript') : transcriptPart(transcript)}`;
}

function leftOut(what: string): Markup {
  return html`<p class="note">The ${what} is left out: the report would be too long.</p>`;
}

function transcriptPart({ entries, isRecorded, nextAfter }: Transcript): Markup {
  const shown = entries.filter(isShown);
  if (shown.length === 0) return html`<p class="note">The agent printed nothing that was kept.</p>`;
  const source = isRecorded ? '' : ', from its events: no recording is kept';
  return html`<details><summary>Transcript, ${shown.length} ${shown.length === 1 ? 'entry' : 'entries'}${source}</summary>
<table class="transcript">${shown.map(entryRow)}</table>
${nextAfter === null ? '' : html`<p class="note">The rest is left out.</p>`}</details>`;
}

type Entry = Transcript['entries'][number];

/** That a tool ended well is told by what comes after it. */
function isShown({ kind, text, data }: Entry): boolean {
  return kind === 'tool_end' ? data.ok === false : kind !== 'usage' && text !== '';
}

function entryRow({ atMs, kind, text, data }: Entry): Markup {
  const words = data.ok === false ? `${kind}, failed` : kind;
  return html`<tr><th scope="row">${formatDuration(atMs)} ${sanitizeLine(words)}</th><td><pre>${sanitizeForTerminal(text)}</pre></td></tr>`;
}
