/** On the screen of this machine. What cannot be shown at once is not shown later: it would be no news. */
import { hostname } from 'node:os';
import { cut } from '../../domain/cut.ts';
import type { Sender } from './channel.ts';

/** Runs a program with these arguments, without a shell. */
export type RunProgram = (
  file: string,
  args: readonly string[],
  signal: AbortSignal,
) => Promise<{ code: number; output: string }>;

const MOST_CHARACTERS = 500;
const URGENCY = { needs: 'critical', end: 'normal', news: 'low' };
const SCRIPT = [
  ...['-e', 'on run argv', '-e', 'display notification (item 1 of argv) with title "Pulse"', '-e', 'end run'],
];

/** One of these leads to a desktop, where it is not a Mac. */
const WAYS = ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY'];
/** For a process with a desktop to begin. */
const FRESH_MS = 10 * 60 * 1000;

export function createDesktopSender(
  run: RunProgram,
  platform: NodeJS.Platform,
): Sender<{ host?: string | undefined }> {
  return {
    needs: () => [],
    freshMs: FRESH_MS,
    // Any process of the state directory may deliver, on another machine or without a screen, too.
    isHere: ({ host = hostname() }, environment) =>
      host === hostname() && (platform === 'darwin' || WAYS.some((name) => environment[name])),
    skips: ({ weight }) => weight === 'news',
    async send({ text, weight }, { signal }) {
      const words = cut(text, MOST_CHARACTERS);
      const [file, ...args] =
        platform === 'darwin'
          ? ['osascript', ...SCRIPT, words]
          : ['notify-send', '--app-name=Pulse', `--urgency=${URGENCY[weight]}`, '--', 'Pulse', plain(words)];
      const { code, output } = await run(file!, args, signal).catch((error: Error) => ({
        code: 127,
        output: error.message,
      }));
      if (code === 0) return { kind: 'sent', providerId: null };
      return { kind: 'refused', error: `${file}: exit ${code}: ${output.trim().slice(-300)}` };
    },
  };
}

/** A desktop reads markup in it. */
function plain(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
