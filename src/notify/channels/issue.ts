/** A comment on the issue that a session came from, once, when the session is complete. */
import type { GhAnswer } from '../../process/gh.ts';
import type { Sender } from './channel.ts';

/** `null`: gh is not installed. */
export type RunGh = (
  args: string[],
  options: { stdin?: string; signal: AbortSignal },
) => Promise<GhAnswer | null>;

const NOT_INSTALLED = 'gh is not installed';

export function createIssueSender(gh: RunGh): Sender<object> {
  return {
    needs: () => [],
    skips: ({ about }) => about?.type !== 'session.ended',
    async send({ text, about, destination }, { signal }) {
      const mark = `<!-- pulse ${about.sessionId} -->`;
      const seen = await gh(['issue', 'view', destination, '--json', 'comments'], { signal });
      if (seen === null) return { kind: 'refused', error: NOT_INSTALLED };
      if (seen.code !== 0) return { kind: 'later', error: seen.stderr.trim().slice(-300) };
      // Said already, by a process that died before it could note so.
      if (seen.stdout.includes(mark)) return { kind: 'sent', providerId: null };
      const stdin = `${text}\n\nPulse session \`${about.sessionId}\`\n${mark}\n`;
      const said = await gh(['issue', 'comment', destination, '--body-file', '-'], { stdin, signal });
      if (said === null) return { kind: 'refused', error: NOT_INSTALLED };
      if (said.code === 0) return { kind: 'sent', providerId: said.stdout.trim().slice(-200) || null };
      return { kind: 'later', error: said.stderr.trim().slice(-300) };
    },
  };
}
