/** Many rows by pages, newest first: a table of ten thousand rows is of no use to anybody. */
import { useState } from 'react';
import { Button } from '../ui/parts.tsx';

const PAGE = 100;

export interface Pages<T> {
  items: readonly T[];
  /** Of the first item, from 0. */
  from: number;
  total: number;
  move(by: number): void;
}

/** `items` are oldest first. */
export function usePages<T>(items: readonly T[]): Pages<T> {
  const [asked, setPage] = useState(0);
  const last = Math.max(0, Math.ceil(items.length / PAGE) - 1);
  const page = Math.min(asked, last);
  const end = items.length - page * PAGE;
  return {
    items: items.slice(Math.max(0, end - PAGE), end).toReversed(),
    from: page * PAGE,
    total: items.length,
    move: (by) => setPage(Math.min(last, Math.max(0, page + by))),
  };
}

export function Pager({ of, pages }: { of: string; pages: Pages<unknown> }) {
  const { items, from, total, move } = pages;
  if (total <= PAGE) return null;
  return (
    <nav className="row pager" aria-label={`Pages of ${of}`}>
      <Button disabled={from === 0} onClick={() => move(-1)}>
        Newer
      </Button>
      <Button disabled={from + items.length >= total} onClick={() => move(1)}>
        Older
      </Button>
      <span className="dim figures">
        {from + 1}–{from + items.length} of {total}, newest first
      </span>
    </nav>
  );
}
