/** A list of any length: beyond a hundred items only those in view exist. */
import { createContext, type ReactElement, useContext, useEffect, useRef } from 'react';
import {
  type CustomContainerComponentProps,
  type CustomItemComponentProps,
  Virtualizer,
  type VirtualizerHandle,
} from 'virtua';

const PLAIN = 100;
/** What is not measured yet. */
const ROW_PX = 66;

interface RowsProps<T> {
  label: string;
  items: readonly T[];
  keyOf(item: T): string | number;
  render(item: T): ReactElement;
  className?: string;
  /** The item that is brought into view, whenever it is another. */
  at?: number | undefined;
  /** Which items are in view, as far as they are not all there. */
  onRange?(first: number, last: number): void;
  /** Whether the first item is in view. */
  onTop?(isTop: boolean): void;
}

interface Named {
  label: string;
  className: string;
  total: number;
}

const Name = createContext<Named>({ label: '', className: '', total: 0 });

export function Rows<T>(props: RowsProps<T>) {
  const { label, items, keyOf, render, className = '' } = props;
  const name = `rows ${className}`;
  if (items.length > PLAIN) return <VirtualRows {...props} className={name} />;
  return (
    <ol className={name} aria-label={label}>
      {items.map((item) => (
        <li key={keyOf(item)}>{render(item)}</li>
      ))}
    </ol>
  );
}

function VirtualRows<T>({ label, items, keyOf, render, className = '', at, onRange, onTop }: RowsProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const handle = useRef<VirtualizerHandle>(null);
  const tell = (): void => {
    const list = handle.current;
    if (!list) return;
    const { scrollOffset, viewportSize } = list;
    onRange?.(list.findItemIndex(scrollOffset), list.findItemIndex(scrollOffset + viewportSize));
    onTop?.(scrollOffset < ROW_PX / 2);
  };
  useEffect(() => {
    if (at !== undefined && at >= 0) handle.current?.scrollToIndex(at, { align: 'nearest' });
  }, [at]);
  return (
    <Name value={{ label, className, total: items.length }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <div className="scroller" ref={scroller} tabIndex={0}>
        <Virtualizer ref={handle} scrollRef={scroller} as={List} item={Item} data={items} onScroll={tell}>
          {(item) => <div key={keyOf(item)}>{render(item)}</div>}
        </Virtualizer>
      </div>
    </Name>
  );
}

function List({ style, children, ref }: CustomContainerComponentProps) {
  const { label, className } = useContext(Name);
  return (
    <ol ref={ref as React.Ref<HTMLOListElement>} className={className} aria-label={label} style={style}>
      {children}
    </ol>
  );
}

function Item({ style, children, ref, index }: CustomItemComponentProps) {
  const { total } = useContext(Name);
  return (
    <li ref={ref as React.Ref<HTMLLIElement>} style={style} aria-posinset={index + 1} aria-setsize={total}>
      {children}
    </li>
  );
}
