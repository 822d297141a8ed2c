/** Beads as lines for a terminal. */
import type { Side } from '../../../cli/output.ts';
import { sanitizeForTerminal, sanitizeLine, shorten } from '../../../terminal/text.ts';
import type { NextView } from '../operations/read.ts';
import type { BeadView, GraphView } from '../operations/view-schema.ts';

const MARKS: Readonly<Record<string, string>> = { open: '·', in_progress: '▸', blocked: '■', closed: '✓' };
const MOST_SKIPPED = 50;

/** `· shop-1a2b P1 Parse dates  after shop-9z8y` */
export function listLines(beads: readonly BeadView[], side: Side): string[] {
  const width = Math.max(...beads.map(({ id }) => id.length));
  return beads.map((bead) => {
    const { status, id, priority, title, dependencies } = bead;
    const head = `${MARKS[status] ?? '?'} ${sanitizeLine(id).padEnd(width)} P${priority}`;
    const notes = [
      ...(bead.type === 'epic' ? ['epic'] : []),
      ...(bead.missing.length > 0 && status !== 'closed' ? [`lacks ${bead.missing.join(', ')}`] : []),
      ...(dependencies.length > 0 && status !== 'closed' ? [`after ${dependencies.join(', ')}`] : []),
    ];
    const about = sanitizeLine(notes.join('; '));
    const room = side.isTerminal ? Math.max(20, side.columns() - head.length - about.length - 4) : 500;
    return `${head} ${shorten(sanitizeLine(title), room)}  ${side.style.dim(about)}`.trimEnd();
  });
}

export function beadLines(bead: BeadView, { style }: Pick<Side, 'style'>): string[] {
  const { id, title, status, type, priority, epic } = bead;
  const facts = [id, type, `P${priority}`, status, ...(epic === null ? [] : [`epic ${epic}`])].join(' · ');
  const list = (name: string, values: readonly string[]): string[] =>
    values.map((value) => `  ${style.dim(name)} ${sanitizeLine(value)}`);
  return [
    `${style.bold(sanitizeLine(title))}  ${style.dim(sanitizeLine(facts))}`,
    ...list('after   ', bead.dependencies),
    ...list('file    ', bead.files),
    ...list(
      'verify  ',
      bead.verify.map(({ command, expect }) => (expect ? `${command}  (${expect})` : command)),
    ),
    ...list('evidence', [bead.verification_evidence ?? []].flat()),
    ...(bead.testing_mode === 'tdd-required' ? list('testing ', ['tdd-required']) : []),
    ...list('label   ', bead.labels),
    ...list('closed  ', bead.close_reason === null ? [] : [bead.close_reason]),
    ...(bead.missing.length === 0 ? [] : [style.yellow(`  lacks    ${bead.missing.join(', ')}`)]),
    ...(bead.body === '' ? [] : ['', sanitizeForTerminal(bead.body)]),
  ];
}

/** A bead a line, with its weight where it is open, and below it what it waits for. */
export function graphLines({ nodes, edges }: GraphView, { style }: Side): string[] {
  const titles = new Map(nodes.map(({ id, title }) => [id, title]));
  return nodes.flatMap(
    ({ id, title, status, priority, is_ready: isReady, critical_path: path, unblocks }) => {
      const weight = path === null ? '' : `chain ${path}, unblocks ${unblocks}${isReady ? ', ready' : ''}`;
      const head = `${MARKS[status] ?? '?'} ${sanitizeLine(id)} P${priority} ${sanitizeLine(title)}`;
      const below = edges
        .filter(({ from }) => from === id)
        .map(({ to, type }) => {
          const word = type === 'blocks' ? 'waits for' : type;
          return `    ${style.dim(sanitizeLine(`${word} ${to}  ${titles.get(to) ?? ''}`.trimEnd()))}`;
        });
      return [`${head}  ${style.dim(weight)}`.trimEnd(), ...below];
    },
  );
}

export function nextLines({ bead, why }: NextView, side: Side): string[] {
  const { style } = side;
  const head = bead ? beadLines(bead, side) : ['No bead can be worked on now.'];
  if (!why) return head;
  const { chosen, skipped } = why;
  const reason = chosen
    ? [
        '',
        style.dim(
          `priority ${chosen.priority}; the longest chain that waits for it: ${chosen.critical_path}; ` +
            `rank ${chosen.pagerank.toPrecision(3)}; it unblocks ${chosen.unblocks}`,
        ),
      ]
    : [];
  const shown = skipped
    .slice(0, MOST_SKIPPED)
    .map(({ id, reasons }) => sanitizeLine(`  not ${id}: ${reasons.join('; ')}`));
  const more = skipped.length > shown.length ? [`  … and ${skipped.length - shown.length} more`] : [];
  return [...head, ...reason, ...shown, ...more];
}
