/** A note that comes while an agent runs is told beside the next answer that one of Pulse's tools gives it. */
import { notesNotice } from '../../context/notes.ts';
import type { Tool } from '../../tools/contract.ts';
import type { RunListener } from '../ports.ts';

/** The same tool. A note that cannot be read now is in the next brief all the same. */
export function tellingNotes(tool: Tool, listener: Pick<RunListener, 'takeNotes'>): Tool {
  return {
    ...tool,
    async call(input) {
      const reply = await tool.call(input);
      const notes = (await listener.takeNotes?.().catch(() => [])) ?? [];
      if (notes.length === 0) return reply;
      const notice = [reply.notice, notesNotice(notes)].filter(Boolean).join('\n\n');
      return { ...reply, notice };
    },
  };
}
