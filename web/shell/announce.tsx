/** The one polite live region: what changed, for people who do not see it. */
import { useSyncExternalStore } from 'react';

let text = '';
const listeners = new Set<() => void>();

export function announce(next: string): void {
  // A repeated text would not be read again.
  text = next === text ? `${next} ` : next;
  for (const listener of listeners) listener();
}

export function LiveRegion() {
  const said = useSyncExternalStore(listen, () => text);
  return (
    <div className="unseen" aria-live="polite">
      {said}
    </div>
  );
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
