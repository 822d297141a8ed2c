/** The terminal while the board has it: keys come raw, and it is given back as it was. */
import { once } from 'node:events';
import { createKeyReader, type Key } from '../../terminal/keys.ts';
import { openScreen, type Screen } from '../../terminal/screen.ts';
import type { Side } from '../output.ts';

export interface BoardTerminal extends Disposable {
  readonly screen: Screen;
  size(): { columns: number; rows: number };
  /** Whether the person looks here; where the terminal does not say so, by the last key. */
  isLookedAt(): boolean;
  /** Gives it to another view until that ends, and then until the next key. */
  lend(work: () => Promise<void>): Promise<void>;
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
/** Who has pressed a key so lately is here. */
const HERE_MS = 30_000;

export function openTerminal({ stream }: Pick<Side, 'stream'>, events: TerminalEvents): BoardTerminal {
  const { stdin } = process;
  const screen = openScreen(stream);
  const readKeys = createKeyReader();
  let focus: 'focus' | 'blur' | null = null;
  let lastKeyMs = Date.now();
  const onKeys = (chunk: Buffer): void => {
    for (const key of readKeys(chunk)) {
      if ('name' in key && (key.name === 'focus' || key.name === 'blur')) focus = key.name;
      else {
        lastKeyMs = Date.now();
        events.onKey(key);
      }
    }
  };

  function listen(): void {
    stream.write(TELL_FOCUS);
    stdin.setRawMode(true);
    stdin.on('data', onKeys).resume();
  }

  function fallSilent(): void {
    stream.write(TELL_NO_FOCUS);
    stdin.off('data', onKeys).pause();
    stdin.setRawMode(false);
  }

  /** Job control: the shell gets the terminal as it was, until `fg`. */
  function stop(): void {
    screen.leave();
    fallSilent();
    process.kill(process.pid, 'SIGSTOP');
    listen();
    screen.enter();
    events.onResize();
  }

  function resize(): void {
    screen.forget();
    events.onResize();
  }

  stream.on('resize', resize);
  stdin.on('end', events.onEnd);
  process.on('SIGTSTP', stop);
  process.on('SIGTERM', events.onEnd);
  process.on('SIGHUP', events.onEnd);
  listen();
  return {
    screen,
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    isLookedAt: () => (focus === null ? Date.now() - lastKeyMs < HERE_MS : focus === 'focus'),
    async lend(work) {
      fallSilent();
      screen.leave();
      await work();
      stdin.setRawMode(true);
      stdin.resume();
      // It fails only where the terminal is gone: then there is nobody to go back for.
      await once(stdin, 'data').catch(events.onEnd);
      listen();
      screen.enter();
    },
    [Symbol.dispose]() {
      stream.off('resize', resize);
      stdin.off('end', events.onEnd);
      process.off('SIGTSTP', stop);
      process.off('SIGTERM', events.onEnd);
      process.off('SIGHUP', events.onEnd);
      fallSilent();
      screen[Symbol.dispose]();
    },
  };
}
