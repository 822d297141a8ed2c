/** A command of the person's own, for every service that is not here. */
import type { Sender } from './channel.ts';

/** Runs it with this on its standard input. */
export type RunCommand = (
  command: string,
  request: { input: string; signal: AbortSignal },
) => Promise<{ code: number; output: string }>;

export function createCommandSender(run: RunCommand): Sender<{ command: string }> {
  return {
    needs: () => [],
    async send({ text, weight, key, about }, { settings, signal }) {
      const { type, sessionId, iteration } = about;
      const where = { type, sessionId, ...(iteration === null ? {} : { iteration }) };
      const input = `${JSON.stringify({ id: key, ...where, weight, text })}\n`;
      const { code, output } = await run(settings.command, { input, signal });
      if (code === 0) return { kind: 'sent', providerId: null };
      return { kind: 'later', error: `exit ${code}: ${output.trim().slice(-300)}` };
    },
  };
}
