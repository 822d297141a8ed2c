/** On the screen of this machine. What cannot be shown at once is not shown later: it would be no news. */
import { cut } from '../texts.ts';
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

export function createDesktopSender(run: RunProgram, platform: NodeJS.Platform): Sender<object> {
  return {
    needs: () => [],
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
