/** The soft watchdog: an agent that calls Pulse's tools is warned when its time is nearly over. */
import type { AttemptSpec } from '../../domain/attempt.ts';
import type { Tool } from '../../tools/contract.ts';

/** Of the run's time. */
const SOON = 0.8;
const NOTICE =
  'Your time for this run is nearly over: bring your work into a good state, and end the run as the brief says.';

export interface WrapUp extends Disposable {
  /** The same tool; its next answer carries the notice, once it is due. */
  tell(tool: Tool): Tool;
}

export function createWrapUp({ hardMs, timeMs }: AttemptSpec['limits']): WrapUp {
  let isDue = false;
  const soonMs = SOON * Math.min(hardMs, timeMs ?? hardMs);
  const timer = setTimeout(
    () => {
      isDue = true;
    },
    Math.min(soonMs, 2 ** 31 - 1),
  );
  timer.unref();
  return {
    tell: (tool) => ({
      ...tool,
      async call(input) {
        const reply = await tool.call(input);
        if (!isDue) return reply;
        isDue = false;
        return { ...reply, notice: NOTICE };
      },
    }),
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
