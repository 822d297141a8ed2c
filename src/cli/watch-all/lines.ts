/** The board as rows of a terminal: a line a session, below it the selected one, at the bottom the keys. */
import { ATTENTION_GROUPS, type AttentionGroup } from '../../domain/attention.ts';
import { formatDuration } from '../../domain/durations.ts';
import type { Session } from '../../store/sessions.ts';
import type { Style } from '../../terminal/style.ts';
import { displayWidth, padTo, sanitizeForTerminal, sanitizeLine, shorten } from '../../terminal/text.ts';
import { ago, localClock } from '../../terminal/time.ts';
import { endSuffix, formatCount, formatUsd, headline, STATUS_MARKS, unreadText } from '../follow/result.ts';
import { requestText } from '../waiting-text.ts';
import { type Board, type Prompt, type Row, rowsOf, selectedRow } from './board.ts';
import type { BoardFigures } from './figures.ts';
import { placeOf } from './place.ts';

export interface Frame {
  style: Style;
  columns: number;
  rows: number;
  nowMs: number;
  /** The selected session with its log; `null` until it was read. */
  detail: Session | null;
  figures: BoardFigures;
}

export interface Drawn {
  rows: string[];
  cursor?: { row: number; column: number };
}

/** Lines of a long text that are seen at once: all but its title and the keys. */
export function pageHeight(rows: number): number {
  return Math.max(1, rows - 2);
}

export function drawBoard(board: Board, frame: Frame): Drawn {
  if (board.pages) return { rows: pageLines(board, frame) };
  if (board.hasHelp) {
    const help = HELP.map((line) => shorten(line, frame.columns));
    return { rows: [header(board, frame), ...help].slice(0, frame.rows) };
  }
  const all = rowsOf(board);
  const selected = selectedRow(board);
  const detail = selected ? detailLines(selected, frame) : [];
  const body = frame.rows - 2;
  const below = Math.min(detail.length + 1, Math.max(0, body - Math.min(all.length, MOST_LISTED)));
  const list = listLines(all, selected, { ...frame, rows: body - below });
  const rule = frame.style.dim('─'.repeat(frame.columns));
  const shown = below > 0 ? [rule, ...detail.slice(0, below - 1)] : [];
  const gap = Array.from({ length: Math.max(0, body - list.length - shown.length) }, () => '');
  const { text, column } = footer(board, frame);
  const rows = [header(board, frame), ...list, ...shown, ...gap, text].slice(0, frame.rows);
  return column === undefined ? { rows } : { rows, cursor: { row: rows.length - 1, column } };
}

/** So many sessions are seen before the selected one's details give way. */
const MOST_LISTED = 12;

const COUNTED: Record<AttentionGroup, string> = {
  needs_you: 'need you',
  failed: 'failed',
  no_runner: 'without a runner',
  waiting: 'waiting',
  running: 'working',
  done: 'done',
};

function header({ overview, filter }: Board, { style, columns, nowMs, figures }: Frame): string {
  const { counts } = overview;
  const told = ATTENTION_GROUPS.filter((group) => counts[group] > 0).map(
    (group) => `${counts[group]} ${COUNTED[group]}`,
  );
  const clock = localClock(new Date(nowMs).toISOString()).slice(0, 5);
  const today = figures.todayUsd === null ? '' : `${todayText(figures.todayUsd)} today`;
  const right = [today, clock].filter(Boolean).join('  ');
  const left = [
    'Pulse',
    ...(told.length > 0 ? told : ['no sessions yet']),
    ...(filter ? [`/${sanitizeLine(filter)}`] : []),
  ];
  const room = columns - displayWidth(right) - 2;
  return style.bold(`${padTo(` ${shorten(left.join('  '), room - 1)}`, room)}${right} `);
}

/** Of a day: tenths of a cent are no more of interest. */
function todayText(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

function listLines(all: readonly Row[], selected: Row | null, frame: Frame): string[] {
  if (all.length === 0)
    return ['', '  Nothing to show. pulse start "GOAL" begins a session; q leaves.'].slice(0, frame.rows);
  const at = Math.max(
    0,
    all.findIndex(({ entry }) => entry.id === selected?.entry.id),
  );
  const top = Math.max(0, Math.min(at - Math.floor(frame.rows / 2), all.length - frame.rows));
  const shown = all.slice(top, top + frame.rows);
  const widths = widthsOf(shown, frame);
  return shown.map((row) =>
    entryLine(row, { ...frame, widths, isSelected: row.entry.id === selected?.entry.id }),
  );
}

interface Widths {
  short: number;
  /** 0 where the terminal is too narrow for it. */
  project: number;
  place: number;
  cost: number;
}

/** Below so many columns a row names no project: what the session is about says more. */
const PROJECT_FROM = 64;
const MOST_PROJECT = 12;

/** Columns as wide as what stands in them, so that figures stand below each other. */
function widthsOf(shown: readonly Row[], { columns, figures }: Frame): Widths {
  const widest = (text: (row: Row) => string): number =>
    Math.max(0, ...shown.map((row) => displayWidth(text(row))));
  return {
    short: widest(({ entry }) => entry.short),
    project:
      columns < PROJECT_FROM
        ? 0
        : Math.min(
            MOST_PROJECT,
            widest(({ entry }) => sanitizeLine(entry.project_name)),
          ),
    place: widest(({ entry }) => placeOf(entry, figures.experiments.get(entry.id))),
    cost: widest(({ entry }) => costOf(entry)),
  };
}

/** An agent that tells no cost may still have one: nothing is not claimed. */
function costOf({ spent_usd: usd, total_tokens_used: tokens }: Row['entry']): string {
  if (usd > 0) return formatUsd(usd);
  return tokens > 0 ? `${formatCount(tokens)} tok` : '–';
}

function spentLines(entry: Row['entry']): string[] {
  const limit = entry.budget_usd === null ? '' : formatUsd(entry.budget_usd);
  if (entry.spent_usd > 0) return [`${formatUsd(entry.spent_usd)}${limit && `/${limit}`}`];
  return [
    ...(entry.total_tokens_used > 0 ? [`${formatCount(entry.total_tokens_used)} tokens`] : []),
    limit === '' ? 'cost not known' : `cost not known, limit ${limit}`,
  ];
}

function entryLine(
  { entry, group }: Row,
  { style, columns, nowMs, figures, widths, isSelected }: Frame & { widths: Widths; isSelected: boolean },
): string {
  const { mark, color } = STATUS_MARKS[entry.status];
  const since = Date.parse(entry.ended_at ?? entry.started_at ?? entry.created_at);
  const heard = entry.doing ? Math.max(0, nowMs - Date.parse(entry.doing.lastSign)) : null;
  const age = (heard === null ? ago(nowMs - since) : secondsOf(heard)).padStart(4);
  const right = `${costOf(entry).padStart(widths.cost)} ${age}`;
  const project = padTo(shorten(sanitizeLine(entry.project_name), widths.project), widths.project);
  const place = placeOf(entry, figures.experiments.get(entry.id)).padStart(widths.place);
  const left = ` ${[entry.short.padEnd(widths.short), project, place].filter(Boolean).join(' ')} `;
  const room = columns - displayWidth(left) - displayWidth(right) - 4;
  const [goal, more] = [sanitizeLine(entry.goal), wordsOf({ entry, group })];
  const goalRoom =
    more === '' ? room : Math.max(Math.min(displayWidth(goal), 24), room - displayWidth(more) - 2);
  const shownGoal = shorten(goal, Math.min(goalRoom, room));
  const shownMore = shorten(more, Math.max(0, room - displayWidth(shownGoal) - 2));
  const middle = padTo(shownMore === '' ? shownGoal : `${shownGoal}  ${shownMore}`, room);
  const line = `${isSelected ? '>' : ' '}${style[color](mark)}${left}${middle} ${style.dim(right)}`;
  return isSelected ? style.bold(line) : line;
}

/** Whole seconds: tenths would be drawn again and again. */
function secondsOf(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)}s` : formatDuration(ms);
}

/** What it asks, why it stopped, or what it does. */
function wordsOf({ entry, group }: Row): string {
  if (group === 'done') return `${entry.status}${endSuffix(entry)}`;
  if (group === 'waiting' && entry.resume_at !== null)
    return `waits until ${localClock(entry.resume_at).slice(0, 5)}`;
  if (group === 'no_runner') return 'nobody runs it';
  if (group === 'running' || group === 'waiting') {
    const doing = sanitizeLine(entry.doing?.text ?? 'starting');
    const asked = requestText(entry.request);
    return asked ? `${asked} · ${doing}` : doing;
  }
  const reason = sanitizeLine(entry.blocked_reason ?? '');
  return entry.stop_reason === 'blocked_by_agent' && reason !== '' ? `asks: ${reason}` : headline(entry);
}

function detailLines({ entry, group }: Row, { style, columns, nowMs, detail }: Frame): string[] {
  const cut = (text: string): string => shorten(text, columns - 2);
  const facts = [
    entry.id,
    `${entry.agent} on ${entry.branch_name}`,
    ...spentLines(entry),
    formatDuration(entry.running_ms),
  ];
  const asks = group === 'needs_you' || group === 'failed' ? reasonOf(entry.blocked_reason) : [];
  const doing = entry.doing
    ? [
        `now: ${sanitizeLine(entry.doing.text)} for ${secondsOf(Math.max(0, nowMs - Date.parse(entry.doing.since)))}`,
      ]
    : [];
  const unread = group === 'done' && entry.unreadNotes > 0 ? [unreadText(entry.unreadNotes)] : [];
  const log = detail?.id === entry.id ? detail.progress_log.toReversed().map(logLine) : [];
  return [
    style.bold(` ${cut(sanitizeLine(entry.goal))}`),
    style.dim(` ${cut(facts.map(sanitizeLine).join(' · '))}`),
    ...asks.map((line) => style.yellow(` ${cut(line)}`)),
    ...doing.map((line) => style.cyan(` ${cut(line)}`)),
    ...unread.map((line) => style.yellow(` ${cut(line)}`)),
    ...log.map((line) => ` ${cut(line)}`),
  ];
}

/** So many lines of what an agent asked, or of what went wrong. */
const REASON_LINES = 6;

function reasonOf(reason: string | null): string[] {
  const lines = sanitizeForTerminal(reason ?? '')
    .split('\n')
    .map(sanitizeLine)
    .filter((line) => line !== '');
  return lines.length > REASON_LINES ? [...lines.slice(0, REASON_LINES), '…'] : lines;
}

function logLine({
  iteration,
  signal,
  commit,
  files,
  summary,
  reason,
}: Session['progress_log'][number]): string {
  const count = files.length;
  const words = [
    `${String(iteration).padStart(3)} ${signal ?? '–'}`,
    commit?.slice(0, 7) ?? 'no commit',
    `${count} ${count === 1 ? 'file' : 'files'}`,
    sanitizeLine(reason ?? summary ?? ''),
  ];
  return words.join('  ');
}

const PROMPTS: Record<Prompt, string> = { answer: 'answer: ', filter: '/', command: ':' };
const KEYS = 'Enter follow  a answer  p pause  x abort  d diff  e evidence  / find  ? keys  q';

function footer(board: Board, { style, columns }: Frame): { text: string; column?: number } {
  const { prompt, isConfirming, said } = board;
  if (prompt) {
    const label = PROMPTS[prompt.kind];
    const room = columns - label.length - 2;
    const typed = tailOf(prompt.text.replace(/\p{Cc}/gu, ' '), room);
    return { text: ` ${style.bold(label)}${typed}`, column: 1 + label.length + displayWidth(typed) };
  }
  if (isConfirming) {
    const name = selectedRow(board)?.entry.short ?? '';
    const text = ` Abort ${name} for good? Its agent ends now; its branch stays.  y aborts, any other key does not`;
    return { text: style.red(shorten(text, columns)) };
  }
  if (said !== null) return { text: style.yellow(shorten(` ${sanitizeLine(said)}`, columns)) };
  return { text: style.dim(shorten(` ${KEYS}`, columns)) };
}

/** The end of what is typed, where all of it has no room. */
function tailOf(text: string, columns: number): string {
  const letters = [...text];
  let width = 0;
  let at = letters.length;
  while (at > 0 && width + displayWidth(letters[at - 1]!) <= columns) width += displayWidth(letters[--at]!);
  return letters.slice(at).join('');
}

function pageLines({ pages }: Board, { style, columns, rows }: Frame): string[] {
  const { title, lines, top } = pages!;
  const height = pageHeight(rows);
  const end = Math.min(lines.length, top + height);
  const body = lines.slice(top, top + height).map((line) => colorDiff(shorten(line, columns), style));
  const gap = Array.from({ length: height - body.length }, () => '');
  const keys = ` ${lines.length === 0 ? 0 : top + 1}–${end} of ${lines.length}  j k space b g G  q back`;
  return [style.bold(shorten(` ${title}`, columns)), ...body, ...gap, style.dim(shorten(keys, columns))];
}

function colorDiff(line: string, style: Style): string {
  if (line.startsWith('+')) return style.green(line);
  if (line.startsWith('-')) return style.red(line);
  return line.startsWith('@@') ? style.cyan(line) : line;
}

const HELP = [
  '',
  '  j k  ↑ ↓      another session          g G          the first, the last',
  '  Tab  n        the next that needs you  /            only those with these letters',
  '  Enter         follow it                Esc          all again, or back',
  '',
  '  a             answer what it asks      r            go on with it as it is',
  '  p             pause it after this iteration',
  '  x             abort it, after a question',
  '  d             what it changed          e            why its result may be believed',
  '  o             its page in the browser',
  '',
  '  :note TEXT    tell it something without stopping it',
  '  :accept       let a completion stand that changed the checks',
  '  :reject TEXT  do not, and say why',
  '  :answer TEXT  :pause  :resume  :abort  :diff  :evidence  :open  :q',
  '',
  '  q  Ctrl-C     leave; all sessions continue',
  '',
  '  Any key goes back.',
];
