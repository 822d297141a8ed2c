/** How long ago; the exact time is in its title. One clock for the whole page. */
import { useSyncExternalStore } from 'react';
import { age, clock } from './format.ts';

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
  return useSyncExternalStore(listen, () => now);
}

export function Ago({ at, suffix = '' }: { at: string; suffix?: string }) {
  const passed = useNow() - Date.parse(at);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {age(passed)}
      {suffix}
    </time>
  );
}

export function At({ at }: { at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {clock(at)}
    </time>
  );
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
