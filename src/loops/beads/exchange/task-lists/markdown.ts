/** Check lists of a Markdown file: `- [ ] a task`, indented ones belong to the one above them. */
import { EPIC, slug } from '../../graph/bead.ts';
import { faulty, type ListOptions, madeUpId, type Task } from './task-list.ts';

interface Item {
  indent: number;
  task: Task;
  lines: string[];
}

const ITEM = /^(\s*)(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.*\S)\s*$/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^\s*(```|~~~)/;

/** The title of the file is the epic; the heading above an item is its label. */
export function readMarkdown(text: string, { name }: ListOptions): Task[] {
  const items: Item[] = [];
  let title: string | null = null;
  let heading: string | null = null;
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark = FENCE.exec(line)?.[1];
    if (mark && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    const found = fence === null && !mark ? HEADING.exec(line) : null;
    const item = fence === null && !mark ? ITEM.exec(line) : null;
    if (found) {
      if (title === null && found[1] === '#') title = found[2]!;
      else heading = found[2]!;
      items.push({ indent: -1, task: { id: '', title: '' }, lines: [] });
    } else if (item) items.push(readItem(item, { items, heading, name }));
    else items.at(-1)?.lines.push(line);
  }
  const tasks = withParts(items);
  if (tasks.length === 0) throw faulty('the file has no check list');
  const epic: Task = { id: madeUpId(name, `epic ${title ?? name}`), title: title ?? name, type: EPIC };
  return [epic, ...tasks.map((task) => ({ ...task, epic: epic.id }))];
}

interface Place {
  items: readonly Item[];
  heading: string | null;
  name: string;
}

function readItem([, indent = '', mark, title = '']: RegExpExecArray, { items, heading, name }: Place): Item {
  // The same text may stand under several headings, and twice under one.
  const path = `${heading ?? ''}\n${title}`;
  const same = items.filter(({ task }) => task.title === title).length;
  const task: Task = {
    id: madeUpId(name, same === 0 ? path : `${path}\n${same}`),
    title,
    labels: heading === null ? [] : [slug(heading)],
    status: mark === ' ' ? 'open' : { done: 'Completed: it was ticked off before it was imported' },
  };
  return { indent: indent.replaceAll('\t', '    ').length, task, lines: [] };
}

/** An item waits for those that belong to it. The lines below it are its body. */
function withParts(items: readonly Item[]): Task[] {
  const open: { indent: number; task: Task }[] = [];
  const tasks: Task[] = [];
  for (const { indent, task, lines } of items) {
    while (open.length > 0 && open.at(-1)!.indent >= indent) open.pop();
    if (indent < 0) continue;
    const parent = open.at(-1)?.task;
    if (parent) parent.waitsFor = [...(parent.waitsFor ?? []), task.id];
    const whole = { ...task, body: bodyOf(lines, indent) };
    open.push({ indent, task: whole });
    tasks.push(whole);
  }
  return tasks;
}

/** Only what is indented further belongs to the item. */
function bodyOf(lines: readonly string[], indent: number): string {
  const end = lines.findIndex(
    (line) => line.trim() !== '' && line.length - line.trimStart().length <= indent,
  );
  const own = end < 0 ? lines : lines.slice(0, end);
  return own
    .map((line) => line.trim())
    .join('\n')
    .trim();
}
