/** The actions of what is shown now: for keys and for the palette, which lists them all. */
import { useEffect, useRef } from 'react';

export interface PageAction {
  label: string;
  /** One key, or `Ctrl-K` style text for help alone. */
  key?: string;
  run(): void;
}

const sets = new Map<symbol, () => readonly PageAction[]>();

/** While the caller is shown. The newest wins where two have the same key. */
export function useActions(actions: readonly PageAction[]): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const id = Symbol('actions');
    sets.set(id, () => current.current);
    return () => void sets.delete(id);
  }, []);
}

export function currentActions(): PageAction[] {
  return [...sets.values()].toReversed().flatMap((actions) => actions());
}

const OFF = 'pulse.keys';

export function areKeysOff(): boolean {
  return localStorage.getItem(OFF) === 'off';
}

export function setKeysOff(isOff: boolean): void {
  if (isOff) localStorage.setItem(OFF, 'off');
  else localStorage.removeItem(OFF);
}
