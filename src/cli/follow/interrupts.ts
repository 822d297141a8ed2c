/** What Ctrl-C and its kin do to a command that follows a session. */

/** An older Node.js in front of this one forwards a Ctrl-C that the terminal has sent here as well. */
const SAME_PRESS_MS = 200;

export type InterruptSignal = 'SIGINT' | 'SIGTERM';

/** Calls once for every press or signal until disposed. */
export function onInterrupt(listener: (signal: InterruptSignal) => void): Disposable {
  const lastAt = { SIGINT: 0, SIGTERM: 0 };
  const hear = (signal: InterruptSignal) => (): void => {
    const now = Date.now();
    if (now - lastAt[signal] < SAME_PRESS_MS) return;
    lastAt[signal] = now;
    listener(signal);
  };
  const heard = { SIGINT: hear('SIGINT'), SIGTERM: hear('SIGTERM') };
  process.on('SIGINT', heard.SIGINT);
  process.on('SIGTERM', heard.SIGTERM);
  return {
    [Symbol.dispose]() {
      process.off('SIGINT', heard.SIGINT);
      process.off('SIGTERM', heard.SIGTERM);
    },
  };
}

export const INTERRUPT_ANSWERS: readonly string[] = [
  '[p]ause after this iteration',
  '[d]etach',
  '[a]bort',
  'anything else continues',
];

export type InterruptAnswer = 'pause' | 'detach' | 'abort' | 'continue';

/** One key from the terminal, without Enter. A second Ctrl-C, or the terminal's end, detaches. */
export function readInterruptAnswer(): Promise<InterruptAnswer> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const done = (answer: InterruptAnswer): void => {
      stdin.off('data', onKey);
      stdin.off('end', onEnd);
      stdin.setRawMode(false);
      stdin.pause();
      resolve(answer);
    };
    const onKey = (key: Buffer): void =>
      done(ANSWERS[key.toString('latin1')[0]?.toLowerCase() ?? ''] ?? 'continue');
    const onEnd = (): void => done('detach');
    stdin.setRawMode(true);
    stdin.on('data', onKey);
    stdin.on('end', onEnd);
    stdin.resume();
  });
}

const ANSWERS: Record<string, InterruptAnswer> = {
  p: 'pause',
  d: 'detach',
  a: 'abort',
  '\x03': 'detach',
  '\x04': 'detach',
};
