/** All sessions on one screen: what is shown and selected, and what a key does to it. Pure. */
import { ATTENTION_GROUPS, type AttentionGroup } from '../../domain/attention.ts';
import type { Overview, OverviewEntry } from '../../operations/overview.ts';
import type { Key } from '../../terminal/keys.ts';

/** What the line at the bottom asks for. `command`: anything, by its word. */
export type Prompt = 'answer' | 'filter' | 'command';

export interface Pages {
  title: string;
  lines: readonly string[];
  top: number;
}

export interface Board {
  overview: Overview;
  /** Only those whose goal, project or id has this. */
  filter: string;
  selected: string | null;
  prompt: { kind: Prompt; text: string } | null;
  /** An end for good is asked about once. */
  isConfirming: boolean;
  hasHelp: boolean;
  /** A long text instead of the list. */
  pages: Pages | null;
  /** What came of the last key. */
  said: string | null;
}

export interface Row {
  entry: OverviewEntry;
  group: AttentionGroup;
}

/** What a person asks for. */
export type Request =
  | { do: 'leave' }
  | { do: 'follow'; id: string }
  | { do: 'pause' | 'abort' | 'accept' | 'resume' | 'diff' | 'evidence' | 'open'; id: string }
  | { do: 'answer' | 'note' | 'reject'; id: string; text: string };

const EMPTY: Overview = {
  groups: { needs_you: [], failed: [], no_runner: [], waiting: [], running: [], done: [] },
  counts: { needs_you: 0, failed: 0, no_runner: 0, waiting: 0, running: 0, done: 0 },
};

export const FIRST: Board = {
  overview: EMPTY,
  filter: '',
  selected: null,
  prompt: null,
  isConfirming: false,
  hasHelp: false,
  pages: null,
  said: null,
};

/** In the order in which they are shown. */
export function rowsOf({ overview, filter }: Pick<Board, 'overview' | 'filter'>): Row[] {
  const wanted = filter.toLowerCase();
  const rows = ATTENTION_GROUPS.flatMap((group) => overview.groups[group].map((entry) => ({ entry, group })));
  if (wanted === '') return rows;
  return rows.filter(({ entry: { goal, project_name: project, id } }) =>
    [goal, project, id].some((text) => text.toLowerCase().includes(wanted)),
  );
}

/** The selected session, or the first: one that is gone leaves its place to its neighbour. */
export function selectedRow(board: Board): Row | null {
  const rows = rowsOf(board);
  return rows.find(({ entry }) => entry.id === board.selected) ?? rows[0] ?? null;
}

/** New figures, under the same cursor. */
export function refresh(board: Board, overview: Overview): Board {
  const before = rowsOf(board);
  const at = before.findIndex(({ entry }) => entry.id === board.selected);
  const next = { ...board, overview };
  const rows = rowsOf(next);
  if (rows.some(({ entry }) => entry.id === board.selected)) return next;
  return { ...next, selected: rows[Math.min(Math.max(at, 0), rows.length - 1)]?.entry.id ?? null };
}

const CALLING = ['needs_you', 'failed', 'done'] as const;

/** What has stopped since, in words; `null`: nothing has. */
export function callFor(before: Overview, now: Overview): string | null {
  const stopped = CALLING.flatMap((group) => {
    const known = new Set(before.groups[group].map(({ id }) => id));
    return now.groups[group].filter(({ id }) => !known.has(id));
  });
  const [first] = stopped;
  if (!first) return null;
  const more = stopped.length > 1 ? ` (and ${stopped.length - 1} more)` : '';
  return `${first.status}: ${first.goal}${more}`;
}

export interface Pressed {
  board: Board;
  request?: Request;
}

/** `height`: how many lines of a long text are seen at once. */
export function press(board: Board, key: Key, height: number): Pressed {
  const calm = { ...board, said: null };
  if (board.prompt) return pressInPrompt(calm, board.prompt, key);
  if (isKey(key, 'interrupt')) return { board: calm, request: { do: 'leave' } };
  if (board.isConfirming) return pressInConfirm(calm, key);
  if (board.pages) return pressInPages(calm, board.pages, key, height);
  if (board.hasHelp) return { board: { ...calm, hasHelp: false } };
  if ('name' in key) return pressName(calm, key.name);
  return [...key.text].reduce<Pressed>(
    (pressed, letter) => {
      if (pressed.request) return pressed;
      // Over a slow line keys come together: what was typed behind `/`, `:` or `a` belongs into the line.
      const { prompt } = pressed.board;
      return prompt
        ? pressInPrompt(pressed.board, prompt, { text: letter })
        : pressLetter(pressed.board, letter);
    },
    { board: calm },
  );
}

function isKey(key: Key, name: string): boolean {
  return 'name' in key && key.name === name;
}

function pressName(board: Board, name: string): Pressed {
  switch (name) {
    case 'up':
      return { board: moveBy(board, -1) };
    case 'down':
      return { board: moveBy(board, 1) };
    case 'page_up':
      return { board: moveBy(board, -10) };
    case 'page_down':
      return { board: moveBy(board, 10) };
    case 'home':
      return { board: moveBy(board, -Infinity) };
    case 'end':
      return { board: moveBy(board, Infinity) };
    case 'tab':
      return { board: nextNeedingYou(board) };
    case 'escape':
      return { board: { ...board, filter: '' } };
    case 'enter':
      return onSelected(board, ({ id }) => ({ do: 'follow', id }));
    default:
      return { board };
  }
}

function pressLetter(board: Board, letter: string): Pressed {
  switch (letter) {
    case 'j':
      return { board: moveBy(board, 1) };
    case 'k':
      return { board: moveBy(board, -1) };
    case 'g':
      return { board: moveBy(board, -Infinity) };
    case 'G':
      return { board: moveBy(board, Infinity) };
    case 'n':
      return { board: nextNeedingYou(board) };
    case 'q':
      return { board, request: { do: 'leave' } };
    case '?':
      return { board: { ...board, hasHelp: true } };
    case '/':
      return { board: { ...board, prompt: { kind: 'filter', text: board.filter } } };
    case ':':
      return { board: { ...board, prompt: { kind: 'command', text: '' } } };
    case 'a':
      return whereStopped(board, () => ({ ...board, prompt: { kind: 'answer', text: '' } }));
    case 'x':
      return selectedRow(board) ? { board: { ...board, isConfirming: true } } : { board };
    default: {
      const action = LETTERS[letter];
      return action ? onSelected(board, ({ id }) => ({ do: action, id })) : { board };
    }
  }
}

const LETTERS: Record<string, 'pause' | 'diff' | 'evidence' | 'open' | 'resume'> = {
  p: 'pause',
  d: 'diff',
  e: 'evidence',
  o: 'open',
  r: 'resume',
};

function pressInConfirm(board: Board, key: Key): Pressed {
  const calm = { ...board, isConfirming: false };
  if ('text' in key && key.text.toLowerCase() === 'y')
    return onSelected(calm, ({ id }) => ({ do: 'abort', id }));
  return { board: { ...calm, said: 'Nothing was aborted.' } };
}

function pressInPages(board: Board, pages: Pages, key: Key, height: number): Pressed {
  const last = Math.max(0, pages.lines.length - height);
  const to = (top: number): Pressed => ({
    board: { ...board, pages: { ...pages, top: Math.min(last, Math.max(0, top)) } },
  });
  const name = 'name' in key ? key.name : (PAGE_LETTERS[key.text] ?? '');
  switch (name) {
    case 'up':
      return to(pages.top - 1);
    case 'down':
      return to(pages.top + 1);
    case 'page_up':
      return to(pages.top - height);
    case 'page_down':
      return to(pages.top + height);
    case 'home':
      return to(0);
    case 'end':
      return to(last);
    case 'escape':
    case 'enter':
      return { board: { ...board, pages: null } };
    default:
      return { board };
  }
}

const PAGE_LETTERS: Record<string, string> = {
  j: 'down',
  k: 'up',
  ' ': 'page_down',
  b: 'page_up',
  g: 'home',
  G: 'end',
  q: 'escape',
};

/** As long as an answer may be over the other surfaces is more than anybody types. */
const MOST_TYPED = 10_000;

function pressInPrompt(board: Board, prompt: NonNullable<Board['prompt']>, key: Key): Pressed {
  const typed = (text: string): Pressed => ({
    board: {
      ...board,
      prompt: { ...prompt, text: text.slice(0, MOST_TYPED) },
      // What is looked for is shown while it is typed.
      ...(prompt.kind === 'filter' ? { filter: text } : {}),
    },
  });
  if ('text' in key) return typed(prompt.text + key.text);
  const closed = { ...board, prompt: null };
  switch (key.name) {
    case 'backspace':
      return typed([...prompt.text].slice(0, -1).join(''));
    case 'kill_line':
      return typed('');
    case 'escape':
    case 'interrupt':
      return { board: { ...closed, ...(prompt.kind === 'filter' ? { filter: '' } : {}) } };
    case 'enter':
      return prompt.kind === 'filter' ? { board: closed } : submit(closed, prompt);
    default:
      return { board };
  }
}

function submit(board: Board, { kind, text }: NonNullable<Board['prompt']>): Pressed {
  if (kind === 'answer') return withText(board, 'answer', text);
  const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  switch (word) {
    case '':
      return { board };
    case 'q':
    case 'quit':
      return { board, request: { do: 'leave' } };
    case 'note':
    case 'answer':
    case 'reject':
      return withText(board, word, rest);
    case 'pause':
    case 'resume':
    case 'accept':
    case 'open':
    case 'diff':
    case 'evidence':
      return onSelected(board, ({ id }) => ({ do: word, id }));
    case 'abort':
      return { board: { ...board, isConfirming: selectedRow(board) !== null } };
    default:
      return { board: { ...board, said: `There is no command ${word}. ? shows what there is.` } };
  }
}

function withText(board: Board, what: 'answer' | 'note' | 'reject', text: string): Pressed {
  if (text.trim() === '') return { board: { ...board, said: `Nothing was typed, so nothing was sent.` } };
  return onSelected(board, ({ id }) => ({ do: what, id, text }));
}

function onSelected(board: Board, request: (entry: OverviewEntry) => Request): Pressed {
  const row = selectedRow(board);
  return row ? { board, request: request(row.entry) } : { board };
}

function whereStopped(board: Board, then: () => Board): Pressed {
  const row = selectedRow(board);
  if (!row) return { board };
  const { status } = row.entry;
  if (status === 'blocked' || status === 'paused' || status === 'failed') return { board: then() };
  return { board: { ...board, said: 'It asks nothing. :note TEXT tells a running session something.' } };
}

function moveBy(board: Board, count: number): Board {
  const rows = rowsOf(board);
  const at = rows.findIndex(({ entry }) => entry.id === selectedRow(board)?.entry.id);
  const to = Math.min(rows.length - 1, Math.max(0, at + count));
  return { ...board, selected: rows[to]?.entry.id ?? null };
}

function nextNeedingYou(board: Board): Board {
  const rows = rowsOf(board);
  const at = rows.findIndex(({ entry }) => entry.id === selectedRow(board)?.entry.id);
  const later = [...rows.slice(at + 1), ...rows.slice(0, at + 1)];
  const next = later.find(({ group }) => group === 'needs_you' || group === 'failed');
  return next ? { ...board, selected: next.entry.id } : { ...board, said: 'Nothing needs you.' };
}
