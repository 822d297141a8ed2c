/** The terminal while the board has it: keys come raw, and it is given back as it was. */
import { once } from 'node:events';
import { createKeyReader, type Key } from '../../terminal/keys.ts';
import { openScreen, type Screen } from '../../terminal/screen.ts';
import { isInForeground } from '../follow/follow-keys.ts';
import type { Side } from '../output.ts';

export interface BoardTerminal extends Disposable {
  readonly screen: Screen;
  size(): { columns: number; rows: number };
  /** Whether the person looks here; where the terminal does not say so, by the last key. */
  isLookedAt(): boolean;
  /** Gives it, empty, to another view until that ends (at the latest when the signal aborts), then until the next key. */
  lend(work: (ending: AbortSignal) => Promise<void>): Promise<void>;
}

export interface TerminalEvents {
  onKey(key: Key): void;
  onResize(): void;
  /** The terminal, or the process, is to end. */
  onEnd(): void;
}

/** So that it says when the person looks here, and when elsewhere. */
const TELL_FOCUS = '\x1b[?1004h';
const TELL_NO_FOCUS = '\x1b[?1004l';
const SUSPEND = 0x1a;
/** Who has pressed a key so lately is here. */
const HERE_MS = 30_000;

export function openTerminal({ stream }: Pick<Side, 'stream'>, events: TerminalEvents): BoardTerminal {
  const { stdin } = process;
  const screen = openScreen(stream);
  const presence = createPresence();
  const readKeys = createKeyReader();
  let isGiven = false;
  const ending = new AbortController();
  const end = (): void => {
    ending.abort();
    events.onEnd();
  };
  const onKeys = (chunk: Buffer): void => {
    // The terminal would have turned it into a signal for the whole job. It is given back before: the process that is stopped
    // with this process may hand it to the shell at once, and after that it is not this process's to change.
    if (chunk.includes(SUSPEND)) {
      giveBack();
      process.kill(0, 'SIGTSTP');
      return;
    }
    for (const key of readKeys(chunk)) if (!presence.isTold(key)) events.onKey(key);
  };

  function listen(): void {
    stream.write(TELL_FOCUS);
    stdin.setRawMode(true);
    stdin.on('data', onKeys).resume();
  }

  function fallSilent(): void {
    stream.write(TELL_NO_FOCUS);
    stdin.off('data', onKeys).pause();
    if (isInForeground()) stdin.setRawMode(false);
  }

  /** To the shell. May be called twice. */
  function giveBack(): void {
    if (isGiven) return;
    isGiven = true;
    screen.leave();
    fallSilent();
  }

  /** Job control: the shell gets the terminal as it was, until `fg`. */
  function stop(): void {
    giveBack();
    process.kill(process.pid, 'SIGSTOP');
    isGiven = false;
    listen();
    screen.enter();
    events.onResize();
  }

  /** The other view stops itself, and continues at once: what is left to do here is the screen, before and after. */
  function leaveMeanwhile(): void {
    screen.leave();
    process.nextTick(screen.enter);
  }

  const heard = new DisposableStack();
  heard.use(hear(stream, 'resize', screen.forget));
  heard.use(hear(stream, 'resize', events.onResize));
  heard.use(hear(stdin, 'end', end));
  for (const signal of ['SIGTERM', 'SIGHUP']) heard.use(hear(process, signal, end));
  let stopping = hear(process, 'SIGTSTP', stop);
  listen();
  return {
    screen,
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    isLookedAt: presence.isHere,
    async lend(work) {
      fallSilent();
      screen.lend();
      stopping[Symbol.dispose]();
      stopping = hear(process, 'SIGTSTP', leaveMeanwhile);
      try {
        await work(ending.signal);
        stdin.setRawMode(true);
        stdin.resume();
        // It fails only where the terminal or this process ends: then there is nobody to go back for.
        await once(stdin, 'data', { signal: ending.signal }).catch(end);
      } finally {
        stopping[Symbol.dispose]();
        stopping = hear(process, 'SIGTSTP', stop);
        listen();
        screen.take();
      }
    },
    [Symbol.dispose]() {
      heard[Symbol.dispose]();
      stopping[Symbol.dispose]();
      fallSilent();
      screen[Symbol.dispose]();
    },
  };
}

/** Whether a person looks here: the terminal's own word, else by the last key. */
function createPresence() {
  let focus: 'focus' | 'blur' | null = null;
  let lastKeyMs = Date.now();
  return {
    isHere: (): boolean => (focus === null ? Date.now() - lastKeyMs < HERE_MS : focus === 'focus'),
    /** Whether the "key" is the terminal's word about it, and not a person's. */
    isTold(key: Key): boolean {
      if ('name' in key && (key.name === 'focus' || key.name === 'blur')) {
        focus = key.name;
        return true;
      }
      lastKeyMs = Date.now();
      return false;
    },
  };
}

function hear(from: NodeJS.EventEmitter, event: string, listener: () => void): Disposable {
  from.on(event, listener);
  return { [Symbol.dispose]: () => void from.off(event, listener) };
}
