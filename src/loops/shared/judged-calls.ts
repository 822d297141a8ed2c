/** Calls by which an agent says that it is done, judged while it waits: one after the other, and never for too long. */
import type { ToolReply } from '../../tools/contract.ts';

/** Clients give up on a tool call after a minute: before that they are told to ask again. */
const ANSWER_WITHIN_MS = 50_000;

export interface JudgedCallsOptions<T> {
  signal: AbortSignal;
  /** The tool that asks for an answer that took long. */
  resultTool: string;
  answerWithinMs?: number;
  /** What was broken off throws: it says neither yes nor no. */
  judge(input: T, signal: AbortSignal): Promise<ToolReply>;
}

export interface JudgedCalls<T> {
  ask(input: T): Promise<ToolReply>;
  result(id: string): Promise<ToolReply>;
  isAsked(): boolean;
  /** The agent is gone: what it asked for last is answered still if it ended cleanly, else broken off. */
  settle(end: { isClean: boolean }): Promise<void>;
}

export function createJudgedCalls<T>(options: JudgedCallsOptions<T>): JudgedCalls<T> {
  const { resultTool, judge, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const answers = new Map<string, Promise<ToolReply>>();
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  let turn: Promise<unknown> = Promise.resolve();

  /** Two answers about one worktree at a time would see each other's half. */
  function inTurn(input: T): Promise<ToolReply> {
    const answer = turn.then(() => {
      signal.throwIfAborted();
      return judge(input, signal);
    });
    turn = answer.catch(() => undefined);
    return answer;
  }

  /** The answer, or after a while how to ask for it. */
  async function answerWithin(id: string, answer: Promise<ToolReply>): Promise<ToolReply> {
    const late = Promise.withResolvers<ToolReply>();
    const text = `Still checking. Call ${resultTool} with {"id": "${id}"} for the outcome.`;
    const timer = setTimeout(() => late.resolve({ ok: false, output: text, pending: id }), answerWithinMs);
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    ask(input) {
      const id = `check-${answers.size + 1}`;
      const answer = inTurn(input);
      answer.catch(() => undefined);
      answers.set(id, answer);
      return answerWithin(id, answer);
    },
    isAsked: () => answers.size > 0,
    async result(id) {
      const answer = answers.get(id);
      if (answer) return answerWithin(id, answer);
      return { ok: false, output: `There is no call with the id ${id}.`, reasons: ['unknown id'] };
    },
    async settle({ isClean }) {
      if (!isClean) over.abort('over');
      await turn;
    },
  };
}
