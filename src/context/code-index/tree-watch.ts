/** Sees changes in the folders of a worktree that have files of the project; ignored folders are not looked at. */
import { type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';

/** Beyond it the files are listed before each answer instead: watches are scarce on some systems. */
const MOST_FOLDERS = 4_000;

export interface TreeWatch extends Disposable {
  /** Watches the folders of these files, and no others. True if all of them were watched before. */
  follow(paths: readonly string[]): boolean;
  /** Whether every change is seen. */
  isLive(): boolean;
}

/** `onChange` gets the path from the root, of a file that may be new, changed or gone. It keeps no process alive. */
export function createTreeWatch(
  root: string,
  onChange: (path: string) => void,
  { mostFolders = MOST_FOLDERS }: { mostFolders?: number } = {},
): TreeWatch {
  const watchers = new Map<string, FSWatcher>();
  let isBroken = false;

  function stop(): void {
    isBroken = true;
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  }

  function begin(folder: string): void {
    const watcher = watch(join(root, folder), { persistent: false });
    watcher.on('change', (_, name) => onChange(name === null ? folder : join(folder, String(name))));
    watcher.on('error', stop);
    watchers.set(folder, watcher);
  }

  return {
    follow(paths) {
      if (isBroken) return false;
      const wanted = foldersOf(paths);
      const before = watchers.size;
      let begun = 0;
      for (const [folder, watcher] of watchers)
        if (!wanted.has(folder)) {
          watcher.close();
          watchers.delete(folder);
        }
      try {
        for (const folder of wanted) {
          if (watchers.has(folder)) continue;
          if (++begun + before > mostFolders) throw new RangeError('too many folders');
          begin(folder);
        }
      } catch {
        // No more watches, or a folder that has gone: then files are listed instead.
        stop();
      }
      return !isBroken && begun === 0;
    },
    isLive: () => !isBroken && watchers.size > 0,
    [Symbol.dispose]: stop,
  };
}

function foldersOf(paths: readonly string[]): Set<string> {
  const folders = new Set(['']);
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '.' && !folders.has(folder); folder = dirname(folder))
      folders.add(folder);
  }
  return folders;
}
