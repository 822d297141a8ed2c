/** Single keys while a session is followed. Ctrl-C, Ctrl-Z and the rest do what they do elsewhere. */
import { readFileSync } from 'node:fs';
import { createKeyReader, type Key } from '../../terminal/keys.ts';

export interface FollowKeys extends Disposable {
  /** Somebody else reads the terminal for a while. */
  hold(): void;
  release(): void;
}

/** Listens wherever the terminal is this process's to read, now or later. */
export function openFollowKeys(on: { key(key: Key): void; interrupt(): void }): FollowKeys {
  const { stdin } = process;
  const read = createKeyReader();
  let isListening = false;
  let isHeld = false;

  function listen(): void {
    if (isListening || isHeld || !isInForeground()) return;
    isListening = true;
    stdin.setRawMode(true);
    stdin.on('data', hear);
    stdin.on('error', stop);
    stdin.resume();
    // Following ends when there is nothing more to follow.
    stdin.unref();
  }

  function stop(): void {
    if (!isListening) return;
    isListening = false;
    stdin.off('data', hear);
    stdin.off('error', stop);
    stdin.ref();
    if (isInForeground()) stdin.setRawMode(false);
    stdin.pause();
  }

  function hear(chunk: Buffer): void {
    // The terminal would have turned these into signals.
    const asked = chunk.includes(SUSPEND) ? 'SIGTSTP' : chunk.includes(QUIT) ? 'SIGQUIT' : null;
    if (asked !== null) {
      process.kill(0, asked);
      return;
    }
    for (const key of read(chunk)) {
      if ('name' in key && key.name === 'interrupt') on.interrupt();
      else on.key(key);
    }
  }

  process.prependListener('SIGTSTP', stop);
  process.on('SIGCONT', listen);
  process.once('exit', stop);
  listen();
  return {
    hold() {
      isHeld = true;
      stop();
    },
    release() {
      isHeld = false;
      listen();
    },
    [Symbol.dispose]() {
      stop();
      process.off('SIGTSTP', stop);
      process.off('SIGCONT', listen);
      process.off('exit', stop);
    },
  };
}

const SUSPEND = 0x1a;
const QUIT = 0x1c;

/** A process in the background (`pulse start … &`) would be stopped if it read. Where that cannot be told, nothing is read. */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    return false;
  }
}
