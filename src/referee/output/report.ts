/** A comparison in words, for the reply to `pulse_done` and for people. */
import type { Comparison, Finding } from './compare.ts';

const NO_FILE = '(no file)';

/** Every new issue below its file; at most `maxLines` lines, and how many are left out. Empty when nothing is new. */
export function renderNewIssues(comparison: Comparison, { maxLines }: { maxLines: number }): string {
  const fresh = comparison.findings.filter(({ category }) => category === 'error' || category === 'warning');
  const head = headline(comparison, fresh);
  if (head === null) return '';
  const rows = [...Map.groupBy(fresh, ({ issue }) => issue.file ?? NO_FILE)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([file, findings]) => [
      { text: file, count: 0 },
      ...findings.map((finding) => ({ text: `  ${renderFinding(finding)}`, count: finding.count })),
    ]);
  const room = Math.max(2, maxLines) - 1;
  if (rows.length <= room) return [head, ...rows.map(({ text }) => text)].join('\n');
  const shown = rows.slice(0, room - 1);
  // A file's name with nothing below it says nothing.
  if (shown.at(-1)?.count === 0) shown.pop();
  const left = rows.slice(shown.length).reduce((sum, { count }) => sum + count, 0);
  return [head, ...shown.map(({ text }) => text), `and ${left} more`].join('\n');
}

/** What is told and does not reject: one line each for flaky and missing, or nothing. */
export function renderAsides({ findings }: Comparison): string[] {
  const count = (category: Finding['category']): number =>
    findings.filter((each) => each.category === category).reduce((sum, each) => sum + each.count, 0);
  const [flaky, missing] = [count('flaky'), count('missing')];
  return [
    ...(flaky > 0
      ? [`${plural(flaky, 'flaky issue')}: two runs of the same tree disagree, not held against it`]
      : []),
    ...(missing > 0 ? [`${plural(missing, 'issue')} of the baseline not seen now`] : []),
  ];
}

function headline({ command, ranNoTest }: Comparison, fresh: readonly Finding[]): string | null {
  const count = (category: Finding['category']): number =>
    fresh.filter((each) => each.category === category).reduce((sum, each) => sum + each.count, 0);
  const [errors, warnings] = [count('error'), count('warning')];
  const parts = [
    ...(ranNoTest ? ['no test ran, which is never a pass'] : []),
    ...(errors > 0 ? [plural(errors, 'new error')] : []),
    ...(warnings > 0 ? [plural(warnings, 'new warning')] : []),
  ];
  return parts.length === 0 ? null : `\`${command}\`: ${parts.join(', ')}`;
}

function renderFinding({ category, issue, count, baselineCount, lines }: Finding): string {
  const where =
    lines.length === 0 ? '' : ` (line ${lines.slice(0, 5).join(', ')}${lines.length > 5 ? ', …' : ''})`;
  const code = issue.code === null ? '' : ` ${issue.code}`;
  const before = baselineCount === 0 ? '' : `, ${baselineCount} before`;
  const times = count === 1 && baselineCount === 0 ? '' : ` [${count} more${before}]`;
  const detail = issue.detail ? `: ${issue.detail}` : '';
  return `${category}${code}${where}: ${issue.message}${detail}${times}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
