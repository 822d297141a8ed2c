import type { Store } from './store.ts';

/** Opened at its first use, so that a refused command leaves no state directory behind. A failed opening is tried again. */
export function lazyStore(open: () => Promise<Store>): Store {
  let opening: Promise<Store> | null = null;
  function opened(): Promise<Store> {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  }
  return {
    read: async (work, scope) => (await opened()).read(work, scope),
    tx: async (label, work, scope) => (await opened()).tx(label, work, scope),
    shrink: async () => (await opened()).shrink?.(),
    async close() {
      const store = await opening;
      await store?.close();
    },
  };
}
