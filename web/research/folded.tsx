/** What a failed command printed can be pages: one line of it stands in the row, all of it behind that. */
import { Output } from '../ui/output.tsx';

const MOST = 90;

export interface Folded {
  line: string;
  /** There is more than the line has. */
  isMore: boolean;
}

export function foldText(text: string): Folded {
  const whole = text.trim();
  const flat = whole.replaceAll(/\s+/g, ' ');
  const line = flat.length > MOST ? `${flat.slice(0, MOST - 1)}…` : flat;
  return { line, isMore: line !== whole };
}

export function FoldedText({ text }: { text: string }) {
  const { line, isMore } = foldText(text);
  if (!isMore) return <span className="dim"> {line}</span>;
  return (
    <details className="folded">
      <summary className="dim">{line}</summary>
      <Output text={text.trim()} />
    </details>
  );
}
