/** What an agent's updates mean as events. Its messages come in pieces. */
import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { RunEvent } from '../contract.ts';
import { createMessageText } from '../shared/message-text.ts';
import { createOpenCalls } from '../shared/open-calls.ts';
import { aboutCall } from '../shared/tool-summary.ts';

export interface UpdateReader {
  read(update: SessionUpdate): RunEvent[];
  /** A call that the agent asked for; its start, where no update has told of it. One that is refused is over. */
  asked(call: ToolCallUpdate, answer: { isRefused: boolean }): RunEvent[];
  /** What the turn's end makes of what is still open. */
  end(): RunEvent[];
}

/** gemini says so in the agent's place when it is told to change its mode. */
const MODE_WORDS = /^\[MODE_UPDATE\] \S+$/;
const SIGN_OF_LIFE_MS = 1_000;
/** More than these are told of, but not remembered. */
const MAX_REFUSED = 1_000;
/** Pulse's own tools stand in titles, each agent's own way. */
const OWN_TOOL = /\bpulse_[a-z_]+\b/;

export function createUpdateReader(nowMs: () => number): UpdateReader {
  const message = createMessageText();
  const calls = createOpenCalls();
  // Their end is told; some agents tell it again.
  const refused = new Set<string>();
  let lastSign = 0;

  /** Pieces are no events, but whoever watches must see that there are some. */
  function signOfLife(): RunEvent[] {
    if (nowMs() - lastSign < SIGN_OF_LIFE_MS) return [];
    lastSign = nowMs();
    return [{ type: 'raw', line: '' }];
  }

  function onCall(
    call: Pick<ToolCallUpdate, 'toolCallId' | 'title' | 'name' | 'kind' | 'rawInput'>,
  ): RunEvent[] {
    const { toolCallId: id, title, kind, rawInput } = call;
    const told = aboutCall(rawInput);
    const about = told.summary === undefined ? aboutCall({ description: title }) : told;
    return [...message.end(), ...calls.open({ id, name: nameOf(call, kind), ...about })];
  }

  function onStatus(id: string, status: string | null | undefined): RunEvent[] {
    const isOver = status === 'completed' || status === 'failed';
    return isOver && !refused.has(id) ? calls.close(id, status === 'completed') : signOfLife();
  }

  return {
    read(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk': {
          const { content } = update;
          if (content.type === 'text' && !MODE_WORDS.test(content.text.trim())) message.add(content.text);
          return signOfLife();
        }
        case 'tool_call':
          return [...onCall(update), ...onStatus(update.toolCallId, update.status)];
        case 'tool_call_update':
          return onStatus(update.toolCallId, update.status);
        case 'usage_update': {
          const { used, size, cost } = update;
          const costUsd = cost?.currency === 'USD' ? { costUsd: cost.amount } : {};
          return [
            { type: 'usage', scope: 'cumulative', contextTokens: used, contextWindow: size, ...costUsd },
          ];
        }
        default:
          return signOfLife();
      }
    },
    asked(call, { isRefused }) {
      const opened = onCall(call);
      if (!isRefused) return opened;
      if (refused.size < MAX_REFUSED) refused.add(call.toolCallId);
      return [...opened, ...calls.close(call.toolCallId, false)];
    },
    end: () => [...message.end(), ...calls.closeAll()],
  };
}

function nameOf(
  { name, title }: Pick<ToolCallUpdate, 'name' | 'title'>,
  kind: string | null | undefined,
): string {
  const own = kind === 'execute' ? undefined : OWN_TOOL.exec(title ?? '')?.[0];
  return own ? `pulse/${own}` : name || kind || 'tool';
}
