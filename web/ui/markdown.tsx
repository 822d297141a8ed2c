/**
 * What agents write, as elements: headings, lists, code, quotes, emphasis. Nothing of it is ever markup for the browser;
 * links are shown with their address, and pictures are not loaded.
 */
import { Fragment, type ReactNode } from 'react';
import { Output } from './output.tsx';

export function Markdown({ text }: { text: string }) {
  return <div className="prose">{blocksOf(text).map((block, index) => renderBlock(block, index))}</div>;
}

type Block =
  | { kind: 'code'; text: string }
  | { kind: 'heading'; text: string }
  | { kind: 'list'; isOrdered: boolean; items: string[] }
  | { kind: 'quote'; text: string }
  | { kind: 'text'; text: string };

const FENCE = /^\s*(```+|~~~+)/;
const HEADING = /^#{1,6}\s+(.*)$/;
const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const QUOTE = /^\s*>\s?(.*)$/;

function blocksOf(text: string): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const fence = FENCE.exec(lines[at]!)?.[1];
    if (fence) {
      let end = at + 1;
      while (end < lines.length && !lines[end]!.trimStart().startsWith(fence)) end += 1;
      blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n') });
      at = end + 1;
      continue;
    }
    addLine(blocks, lines[at]!, at === 0 || lines[at - 1]!.trim() === '');
    at += 1;
  }
  return blocks;
}

function addLine(blocks: Block[], line: string, isAfterGap: boolean): void {
  if (line.trim() === '') return;
  const last = blocks.at(-1);
  const heading = HEADING.exec(line);
  if (heading) return void blocks.push({ kind: 'heading', text: heading[1]! });
  const item = ITEM.exec(line);
  if (item) {
    const isOrdered = item[1] !== undefined;
    if (last?.kind === 'list' && last.isOrdered === isOrdered) last.items.push(item[2]!);
    else blocks.push({ kind: 'list', isOrdered, items: [item[2]!] });
    return;
  }
  const quote = QUOTE.exec(line);
  if (quote) {
    if (last?.kind === 'quote' && !isAfterGap) last.text += `\n${quote[1]}`;
    else blocks.push({ kind: 'quote', text: quote[1]! });
    return;
  }
  if (last?.kind === 'list' && !isAfterGap) last.items[last.items.length - 1] += ` ${line.trim()}`;
  else if (last?.kind === 'text' && !isAfterGap) last.text += `\n${line}`;
  else blocks.push({ kind: 'text', text: line });
}

function renderBlock(block: Block, key: number): ReactNode {
  switch (block.kind) {
    case 'code':
      return <Output key={key} text={block.text} />;
    case 'heading':
      return (
        <p key={key} className="prose-heading">
          {inline(block.text)}
        </p>
      );
    case 'quote':
      return <blockquote key={key}>{inline(block.text)}</blockquote>;
    case 'list': {
      const items = block.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the text of one message does not move
        <li key={index}>{inline(item)}</li>
      ));
      return block.isOrdered ? <ol key={key}>{items}</ol> : <ul key={key}>{items}</ul>;
    }
    default:
      return <p key={key}>{inline(block.text)}</p>;
  }
}

const INLINE =
  /(`+)(.+?)\1|\*\*(.+?)\*\*|(?<![\w*])\*([^*\s][^*]*)\*(?!\w)|!?\[([^\]]*)\]\(([^)\s]*)[^)]*\)/g;

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) parts.push(text.slice(end, match.index));
    const [, , code, strong, emphasis, label, target] = match;
    const key = match.index;
    if (code !== undefined) parts.push(<code key={key}>{code}</code>);
    else if (strong !== undefined) parts.push(<strong key={key}>{strong}</strong>);
    else if (emphasis !== undefined) parts.push(<em key={key}>{emphasis}</em>);
    else
      parts.push(
        <Fragment key={key}>{label === target || !target ? label : `${label} (${target})`}</Fragment>,
      );
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}
