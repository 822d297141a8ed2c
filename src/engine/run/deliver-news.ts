/**
 * What comes while an agent runs (a person's note, the mail of its loop) is told beside the next answer that it gets: of
 * one of Pulse's tools, or of Pulse to the agent's own hook.
 */
import { notesNotice } from '../../context/notes.ts';
import type { Tool } from '../../tools/contract.ts';
import type { RunListener } from '../ports.ts';
import type { RunProtocol } from '../work.ts';

/** `null`: there is nothing new. Each thing is told once. */
export type TakeNews = () => Promise<string | null>;

/** What cannot be read now is in the next brief all the same. */
export function createNews(listener: Pick<RunListener, 'takeNotes'>, own: RunProtocol | null): TakeNews {
  return async () => {
    const notes = (await listener.takeNotes?.().catch(() => [])) ?? [];
    const mail = (await own?.takeNews?.().catch(() => null)) ?? null;
    const told = [...(notes.length > 0 ? [notesNotice(notes)] : []), ...(mail === null ? [] : [mail])];
    return told.length > 0 ? told.join('\n\n') : null;
  };
}

/** The same tool. */
export function withNews(tool: Tool, takeNews: TakeNews): Tool {
  return {
    ...tool,
    async call(input) {
      const reply = await tool.call(input);
      const news = await takeNews();
      if (news === null) return reply;
      return { ...reply, notice: [reply.notice, news].filter(Boolean).join('\n\n') };
    },
  };
}
