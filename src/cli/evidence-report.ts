/** A session as a document: what was asked, what came of it, and what Pulse itself saw. */
import { afterSuffix, wayBack } from '../domain/after-words.ts';
import { formatTrust, trustOf } from '../domain/check-words.ts';
import { formatDuration } from '../domain/durations.ts';
import { formatDelta, formatFigure } from '../loops/research/report/figures.ts';
import { unresolvedLines } from '../loops/workflow/unresolved.ts';
import type { SessionExport } from '../operations/export.ts';
import type { Iteration } from '../store/iterations.ts';
import type { StoredJudgement } from '../store/judgements.ts';
import type { Session } from '../store/sessions.ts';
import type { StoredVerification } from '../store/verifications.ts';
import { createStyle } from '../terminal/style.ts';
import { sanitizeForTerminal, sanitizeLine, shorten } from '../terminal/text.ts';
import { eventText } from './event-text.ts';
import { formatCount, formatUsd, iterationsText } from './follow/result.ts';
import { experimentRows, metricOf } from './session-page-experiments.ts';
import { checksText, runSpentText, spentText, whyLine } from './session-page-loops.ts';
import { NO_SOURCES, type ReportSources } from './session-page-sources.ts';

const TITLE_LENGTH = 120;

export function evidenceReport(content: SessionExport, sources: ReportSources = NO_SOURCES): string {
  const { session, iterations, verifications, judgements, events, unresolved, recovery } = content;
  const parts = [
    `# ${prose(shorten(sanitizeLine(session.goal), TITLE_LENGTH))}`,
    session.goal.length > TITLE_LENGTH || session.goal.includes('\n') ? quoteBlock(session.goal) : '',
    '## Result',
    resultTable(content),
    ...(session.blocked_reason ? ['What stopped it:', quoteBlock(session.blocked_reason)] : []),
    ...(unresolved.length === 0
      ? []
      : [
          '## Not resolved, and accepted so',
          unresolvedLines(unresolved)
            .map((line) => `- ${prose(cell(line))}`)
            .join('\n'),
        ]),
    ...(recovery.length === 0
      ? []
      : [
          '## Work that was not taken over',
          recovery.map((ref) => `- \`git show ${ref}\`; back by \`${wayBack(ref)}\``).join('\n'),
        ]),
    ...loopSections(sources, session),
    '## Iterations',
    iterations.length === 0 ? 'None.' : '',
    ...iterations.flatMap((row) =>
      iterationParts(
        row,
        verifications.filter(({ iteration }) => iteration === row.iteration_number),
        judgements.filter(({ iteration }) => iteration === row.iteration_number),
      ),
    ),
    '## Timeline (UTC)',
    fenced(
      events
        .filter(({ type }) => type !== 'agent.text' && type !== 'agent.usage')
        .map((event) => eventText(event, createStyle(false), { clock: utc }))
        .join('\n'),
    ),
    'Written by Pulse from its own records.',
    verifications.length === 0 ? '' : `Run \`pulse verify ${session.id}\` to check the evidence again.`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** A report is read elsewhere too: its times are UTC, as its other times are. */
function utc(at: string): string {
  return at.slice(11, 19);
}

function resultTable({ session, workflow }: SessionExport): string {
  const { status, stop_reason: reason, base_branch: base, base_sha: sha, branch_name: branch } = session;
  const isDone = status === 'complete';
  const trust = trustOf(session);
  const checks = workflow ? workflow.checks.map(({ command }) => command) : session.verify;
  const rows: [string, string][] = [
    ['session', `\`${session.id}\``],
    [
      'status',
      `**${status}**${reason && !isDone ? ` (${reason})` : ''}${trust && isDone ? `, **${formatTrust(trust)}**` : ''}${prose(cell(afterSuffix(session)))}`,
    ],
    ...(session.pull_request
      ? [['pull request', prose(cell(session.pull_request))] as [string, string]]
      : []),
    ['project', `${prose(cell(session.project_name))} (\`${cell(session.project_path)}\`)`],
    ['branch', `\`${branch}\`, from ${base ? `\`${base}\` at ` : ''}\`${sha.slice(0, 12)}\``],
    ['agent', `${session.agent}${session.command ? `: \`${cell(session.command)}\`` : ''}`],
    [
      'verification',
      checks.length > 0 ? checks.map((command) => `\`${cell(command)}\``).join(', ') : checksText(session),
    ],
    [
      'iterations',
      `${iterationsText(session).replace('/', ' of at most ')}, ${session.total_commits} commits`,
    ],
    ['spent', spent(session)],
    [
      'time',
      `${formatDuration(session.running_ms)} running; ${session.created_at} to ${session.ended_at ?? 'now'}`,
    ],
  ];
  return ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n');
}

/** What belongs to a loop, as on the page: experiments, beads, and what worked for it. */
function loopSections({ research, swarm, children }: ReportSources, session: Session): string[] {
  const words = (text: string | null): string => prose(cell(text ?? '')) || '–';
  const code = (text: string | null | undefined): string => (text ? `\`${cell(text)}\`` : '–');
  const sections: string[] = [];
  if (research && research.research.baseline !== null) {
    const rows = experimentRows(research).map(({ iteration, commit, metric, delta, status, ...told }) => [
      ...[String(iteration), code(commit?.slice(0, 7)), metric === null ? '–' : formatFigure(metric)],
      ...[formatDelta(delta) || '–', status, words(told.description), words(whyLine({ status, ...told }))],
    ]);
    const { name, direction } = metricOf(research);
    sections.push('## Experiments', `${words(name)}, ${direction} is better.`);
    sections.push(table(['#', 'commit', 'metric', 'delta', 'status', 'what was tried', 'why'], rows));
  }
  if (swarm) {
    const rows = swarm.beads.map(({ merged, id, title, status, worker, commit, checks, evidence }) => [
      ...[
        merged === null ? '–' : String(merged),
        `${code(id)} ${words(title)}`,
        words(status),
        words(worker),
      ],
      code(commit?.slice(0, 12)),
      checks.map((one) => `${one.passed ? 'passed' : 'failed'}: ${code(one.command)}`).join('; ') || 'none',
      evidence.map(code).join(' ') || '–',
    ]);
    const heads = ['order', 'bead', 'status', 'worker', 'commit', 'verification', 'evidence'];
    sections.push('## Beads', table(heads, rows));
  }
  if (children.length > 0) {
    const rows = children.map((child) => [
      ...[
        code(child.id),
        words(child.nickname),
        child.status,
        formatDuration(child.running_ms),
        spentText(child),
      ],
    ]);
    const all = ['', 'in all', session.status, '', spentText(session)];
    const heads = ['session', 'name', 'status', 'running', 'spent'];
    sections.push('## What worked for it, and its cost', table(heads, [...rows, all]));
  }
  return sections;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n');
}

function spent({ spent_usd: usd, total_tokens_used: tokens, budget_usd: budget }: Session): string {
  const cost = usd > 0 ? formatUsd(usd) : 'cost not known';
  return `${cost}, ${formatCount(tokens)} tokens; limit ${budget === null ? 'none' : formatUsd(budget)}`;
}

function iterationParts(
  row: Iteration,
  checks: readonly StoredVerification[],
  judgements: readonly StoredJudgement[],
): string[] {
  const word =
    row.outcome === 'rejected'
      ? 'COMPLETE, rejected by the verification'
      : (row.signal ?? row.outcome ?? row.status);
  const facts = [
    `- signal: ${row.signal ?? 'none'}${row.signal_source ? ` (${row.signal_source}, rule \`${row.signal_rule}\`)` : ''}`,
    `- commit: ${row.commit_hash ? `\`${row.commit_hash}\`` : 'none'}`,
    `- files: ${row.files_changed.length === 0 ? 'none' : row.files_changed.map((file) => `\`${cell(file)}\``).join(', ')}`,
    ...(row.attempt > 1 ? [`- attempts: ${row.attempt}`] : []),
    ...(row.failure_class ? [`- failure: ${row.failure_class}`] : []),
    `- spent: ${runSpentText(row)}`,
    `- time: ${row.started_at ?? 'not started'} to ${row.ended_at ?? 'now'}`,
  ];
  return [
    `### Iteration ${row.iteration_number}: ${word}`,
    ...(row.output_summary ? [quoteBlock(row.output_summary)] : []),
    facts.join('\n'),
    ...checks.flatMap(checkParts),
    ...judgements.map(judgementPart),
  ];
}

const VERDICTS = {
  accepted: 'accepted',
  rejected: 'not accepted',
  ask: 'waits for a person: the checks were changed',
} as const;

function judgementPart({ verdict, trust, decidedBy, ...told }: StoredJudgement): string {
  const { reasons, changes, declared, replay, flaky, opinion } = told;
  const who = decidedBy === null ? 'the referee' : cell(decidedBy);
  const lines = [
    ...reasons.map((reason) => prose(cell(reason))),
    ...changes.map(
      ({ path, part, what }) => `${what}: \`${cell(path)}\`${part === null ? '' : ` (${cell(part)})`}`,
    ),
    ...declared.map(({ path, reason }) => `declared: \`${cell(path)}\`: ${prose(cell(reason))}`),
    ...(replay
      ? [`the old checks ${replay.passed ? 'hold' : 'do not hold'} on tree \`${replay.tree}\``]
      : []),
    ...(opinion
      ? [`second opinion of ${cell(opinion.agent)}: ${opinion.accept ? 'accepted' : 'refused'}`]
      : []),
    ...flaky.map((name) => `flaky: ${prose(cell(name))}`),
  ];
  const word = verdict === 'accepted' ? `, ${formatTrust(trust)}` : '';
  return [`**${VERDICTS[verdict]}**${word}, by ${who}`, ...lines.map((line) => `- ${line}`)].join('\n');
}

function checkParts(check: StoredVerification): string[] {
  const end = check.exit === null ? 'did not finish' : `exit ${check.exit}`;
  const facts = [
    `**${check.passed ? 'passed' : 'failed'}**: \`${cell(check.command)}\` (${end}, ${formatDuration(check.durationMs)})`,
    `- tree \`${check.tree}\`, commit ${check.commit ? `\`${check.commit}\`` : 'none'}`,
    `- output sha256 \`${check.outputHash}\`, environment \`${check.environment}\`, at ${check.at}`,
  ].join('\n');
  if (check.passed || check.outputTail.trim() === '') return [facts];
  return [facts, fenced(sanitizeForTerminal(check.outputTail).trimEnd().split('\n').slice(-40).join('\n'))];
}

/** As words alone: where a report is shown as a page, no element and no picture of theirs is in it. */
function prose(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('![', '!\\[');
}

function cell(text: string): string {
  return sanitizeLine(text).replaceAll('|', '\\|').replaceAll('`', "'");
}

function quoteBlock(text: string): string {
  return prose(sanitizeForTerminal(text))
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/** The fence is longer than any run of backticks inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
