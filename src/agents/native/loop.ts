/** The tool loop: ask, call, ask again, until the model has nothing more to call. One exit, and failure is data. */
import type { ModelMessage } from 'ai';
import type { FailureClass } from '../../domain/failures.ts';
import type { RunEvent } from '../contract.ts';
import { toolSummary } from '../shared/tool-summary.ts';
import { compact, isNearlyFull, NOTE_TOOL } from './compaction.ts';
import { classifyFailure, type ModelFailure } from './failure.ts';
import type { AskModel, StepAnswer, StepRequest, ToolCall } from './step.ts';
import type { ClientReply, OfferedTool } from './tool-client.ts';

export interface LoopConfig {
  brief: string;
  instructions: string;
  contextWindow: number;
  maxSteps: number;
  ask: AskModel;
  callTool(name: string, input: unknown): Promise<ClientReply>;
  print(event: RunEvent): void;
  sleep(ms: number): Promise<void>;
}

export type LoopEnd = { ok: true; message: string } | { ok: false; failure: FailureClass; message: string };

/** How long to wait before a retry, unless the server names a time. After these, Pulse itself retries the run. */
const RETRY_DELAYS_MS = [1000, 4000];
/** A longer wait is left to Pulse, which shows it and survives a restart. */
const LONGEST_WAIT_MS = 60_000;
const KEPT_RESULTS = 6;
const KEPT_IN_NEED = 1;
const EMPTY_ANSWERS = 2;
const CUT_ANSWERS = 3;

/** Answered in this process: a note needs only the conversation, not Pulse. */
export const noteTool: OfferedTool = {
  name: NOTE_TOOL,
  description:
    'Write down what you must not forget (a decision, a finding, what is left). Notes stay when old tool results are compacted.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

export async function runLoop(config: LoopConfig): Promise<LoopEnd> {
  let messages: ModelMessage[] = [{ role: 'user', content: config.brief }];
  let emptyAnswers = 0;
  let cutAnswers = 0;
  for (let step = 1; step <= config.maxSteps; step++) {
    const asked = await askPatiently(config, messages);
    if ('failure' in asked) return reportFailure(config, asked.failure);
    const { answer } = asked;
    messages = [...asked.messages, ...answer.messages];
    if (answer.text.trim() !== '') config.print({ type: 'text', text: answer.text });
    const contextTokens = reportUsage(config, { answer, messages });
    if (answer.calls.length > 0) {
      const { results, notices } = await callTools(config, answer.calls);
      messages.push({ role: 'tool', content: results });
      if (step === config.maxSteps - WARNED_STEPS)
        notices.push(`Only ${WARNED_STEPS} steps are left. Come to an end.`);
      if (notices.length > 0) messages.push(reminder(notices.join('\n')));
      if (isNearlyFull(contextTokens, config.contextWindow))
        messages = compacted(config, messages, KEPT_RESULTS);
      continue;
    }
    if (answer.finishReason === 'content-filter') {
      return { ok: false, failure: 'crashed', message: 'The provider’s filter stopped the answer.' };
    }
    if (answer.finishReason === 'length' && ++cutAnswers <= CUT_ANSWERS) {
      messages.push(
        reminder('Your answer was cut at its longest. Continue where it ended, in smaller parts.'),
      );
    } else if (answer.text.trim() !== '') {
      return { ok: true, message: '' };
    } else if (++emptyAnswers <= EMPTY_ANSWERS) {
      messages.push(reminder('Your answer was empty. Call a tool, or end your run with a message.'));
    } else {
      return { ok: false, failure: 'crashed', message: 'The model answers with nothing.' };
    }
  }
  return { ok: true, message: `Stopped after ${config.maxSteps} steps.` };
}

const WARNED_STEPS = 5;

type Asked = { answer: StepAnswer; messages: ModelMessage[] } | { failure: ModelFailure };

/** Retries passing failures, and once with a compacted conversation if the window is full. */
async function askPatiently(config: LoopConfig, given: ModelMessage[]): Promise<Asked> {
  let messages = given;
  let hasCompacted = false;
  for (let attempt = 0; ; ) {
    const result = await askOnce(config, { instructions: config.instructions, messages });
    if ('answer' in result) return { ...result, messages };
    const { failure } = result;
    const smaller =
      failure.class === 'context_overflow' && !hasCompacted ? compact(messages, KEPT_IN_NEED) : null;
    if (smaller) {
      hasCompacted = true;
      messages = smaller;
      config.print({ type: 'compacted' });
      continue;
    }
    const delayMs = failure.retryAfterMs ?? RETRY_DELAYS_MS[attempt] ?? 0;
    if (!failure.isPassing || attempt >= RETRY_DELAYS_MS.length || delayMs > LONGEST_WAIT_MS) return result;
    attempt++;
    config.print({ type: 'retry', attempt, status: failure.status, delayMs });
    await config.sleep(delayMs);
  }
}

async function askOnce(
  { ask }: LoopConfig,
  request: StepRequest,
): Promise<{ answer: StepAnswer } | { failure: ModelFailure }> {
  try {
    return { answer: await ask(request) };
  } catch (error) {
    return { failure: classifyFailure(error) };
  }
}

function reportFailure({ print }: LoopConfig, failure: ModelFailure): LoopEnd {
  if (failure.class === 'usage_limit') {
    print({ type: 'limit', message: failure.message, resetAt: failure.resetAt });
  }
  return { ok: false, failure: failure.class, message: failure.message };
}

function reportUsage(
  { print, contextWindow }: LoopConfig,
  { answer: { usage }, messages }: { answer: StepAnswer; messages: ModelMessage[] },
): number {
  const counted = usage.inputTokens + usage.cacheTokens + usage.outputTokens;
  // Some servers report no tokens, but the window still fills up.
  const contextTokens =
    counted > 0 ? counted : Math.ceil(JSON.stringify(messages).length / CHARACTERS_A_TOKEN);
  print({ type: 'usage', scope: 'call', ...usage, contextTokens, contextWindow });
  return contextTokens;
}

const CHARACTERS_A_TOKEN = 4;

type Results = Extract<ModelMessage, { role: 'tool' }>['content'];

/** One by one, in the model's order: a later call may depend on an earlier one. */
async function callTools(config: LoopConfig, calls: readonly ToolCall[]) {
  const results: Results = [];
  const notices: string[] = [];
  for (const call of calls) {
    const { id, name } = call;
    config.print({ type: 'tool_start', id, name, summary: toolSummary(call.input) });
    const reply = await callTool(config, call);
    config.print({ type: 'tool_end', id, name, ok: reply.ok });
    if (reply.notice) notices.push(reply.notice);
    const isFailure = !reply.ok && reply.pending === undefined;
    const output = { type: isFailure ? ('error-text' as const) : ('text' as const), value: replyText(reply) };
    results.push({ type: 'tool-result', toolCallId: id, toolName: name, output });
  }
  return { results, notices };
}

async function callTool({ callTool: atEndpoint }: LoopConfig, call: ToolCall): Promise<ClientReply> {
  if (call.problem !== null) return { ok: false, output: call.problem };
  return call.name === NOTE_TOOL ? { ok: true, output: 'Noted.' } : atEndpoint(call.name, call.input);
}

function replyText({ output, reasons = [], pending }: ClientReply): string {
  const said = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  const others = reasons.filter((reason) => reason !== said).map((reason) => `- ${reason}`);
  return [said, ...others, ...(pending === undefined ? [] : [`pending: ${pending}`])].join('\n');
}

/** Marked, so that the model does not take it for a person's words. */
function reminder(text: string): ModelMessage {
  return { role: 'user', content: `<system-reminder>${text}</system-reminder>` };
}

function compacted({ print }: LoopConfig, messages: ModelMessage[], kept: number): ModelMessage[] {
  const smaller = compact(messages, kept);
  if (smaller) print({ type: 'compacted' });
  return smaller ?? messages;
}
