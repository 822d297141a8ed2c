/** A list of any length: beyond a hundred items only those in view exist. */
import { createContext, type ReactElement, useContext, useRef } from 'react';
import { type CustomContainerComponentProps, type CustomItemComponentProps, Virtualizer } from 'virtua';

const PLAIN = 100;
/** So near to its end more is asked for. */
const NEAR_PX = 800;

interface RowsProps<T> {
  label: string;
  items: readonly T[];
  keyOf(item: T): string | number;
  render(item: T): ReactElement;
  className?: string;
  /** Items that are not loaded yet, if more are known. */
  total?: number;
  onEnd?(): void;
}

interface Named {
  label: string;
  className: string;
  total: number;
}

const Name = createContext<Named>({ label: '', className: '', total: 0 });

export function Rows<T>({ label, items, keyOf, render, className = '', total, onEnd }: RowsProps<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const name = `rows ${className}`;
  if (items.length <= PLAIN) {
    return (
      <ol className={name} aria-label={label}>
        {items.map((item) => (
          <li key={keyOf(item)}>{render(item)}</li>
        ))}
      </ol>
    );
  }
  const watch = (): void => {
    const element = scroller.current;
    if (element && element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX) onEnd?.();
  };
  return (
    <Name value={{ label, className: name, total: total ?? items.length }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <div className="scroller" ref={scroller} tabIndex={0}>
        <Virtualizer scrollRef={scroller} as={List} item={Item} data={items} onScroll={watch}>
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
