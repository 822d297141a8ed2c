/** What an agent's updates mean as events. Its messages come in pieces. */
import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { RunEvent } from '../contract.ts';
import { createMessageText } from '../shared/message-text.ts';
import { createOpenCalls } from '../shared/open-calls.ts';
import { aboutCall } from '../shared/tool-summary.ts';

export interface UpdateReader {
  read(update: SessionUpdate): RunEvent[];
  /** The agent asks for permission: starts the call, if no update has. A refused call ends at once. */
  asked(call: ToolCallUpdate, answer: { isRefused: boolean }): RunEvent[];
  /** Ends what is still open at the end of the turn. */
  end(): RunEvent[];
}

/** gemini prints this as the agent's text when its mode changes. */
const MODE_WORDS = /^\[MODE_UPDATE\] \S+$/;
const SIGN_OF_LIFE_MS = 1_000;
/** Refused calls beyond this number are not remembered. */
const MAX_REFUSED = 1_000;
/** Pulse's own tools appear in titles, in a different form for each agent. */
const OWN_TOOL = /\bpulse_[a-z_]+\b/;

export function createUpdateReader(nowMs: () => number): UpdateReader {
  const message = createMessageText();
  const calls = createOpenCalls();
  // Their end is already reported, but some agents report it again.
  const refused = new Set<string>();
  let lastSign = 0;

  /** Pieces make no events, but the watchdog must see that the agent works. */
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
