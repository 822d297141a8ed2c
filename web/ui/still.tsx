/** Nothing moves under the pointer: what would move what somebody is about to press waits, and a pill tells of it. */
import { type PointerEvent, useEffect, useRef, useState } from 'react';

/** So long after its last move the pointer is aimed at nothing. */
const AIMED_MS = 3_000;

export interface Still<T> {
  shown: T;
  isHeld: boolean;
  release(): void;
  /** Of the element whose rows shall not move. */
  handlers: { onPointerMove(event: PointerEvent): void; onPointerLeave(): void };
}

export interface StillOptions<T> {
  isSame(a: T, b: T): boolean;
  /** Waits for as long as this is so, too. */
  isAway?: boolean;
  /** With another one everything is shown at once: something else is looked at. */
  subject: string;
}

export function useStill<T>(next: T, { isSame, isAway = false, subject }: StillOptions<T>): Still<T> {
  const [state, setState] = useState({ shown: next, subject });
  const [, setTick] = useState(0);
  const aimedMs = useRef(0);
  const isEqual = isSame(state.shown, next);
  const restMs = aimedMs.current + AIMED_MS - Date.now();
  const isHeld = !isEqual && state.subject === subject && (isAway || restMs > 0);
  if (!isHeld && (!isEqual || state.subject !== subject)) setState({ shown: next, subject });
  useEffect(() => {
    if (!isHeld || restMs <= 0) return;
    const timer = setTimeout(() => setTick((tick) => tick + 1), restMs);
    return () => clearTimeout(timer);
  });
  const release = (): void => {
    aimedMs.current = 0;
    setState({ shown: next, subject });
  };
  return {
    shown: isHeld ? state.shown : next,
    isHeld,
    release,
    handlers: {
      onPointerMove: ({ pointerType }) => {
        if (pointerType === 'mouse') aimedMs.current = Date.now();
      },
      onPointerLeave: () => {
        aimedMs.current = 0;
        if (isHeld && !isAway) release();
      },
    },
  };
}

/** Over the rows, so that it moves none of them. */
export function Pill({ count, onPress }: { count: number; onPress(): void }) {
  if (count === 0) return null;
  return (
    <div className="pill">
      <button type="button" className="button button-primary" onClick={onPress}>
        {count} new
      </button>
    </div>
  );
}
