/** A bead's tools inside a run: its completion is judged while the agent waits (docs/protocol/beads.md, Completion). */
import * as z from 'zod';
import type { VerificationRecord } from '../../../domain/attempt.ts';
import type { ProtocolRun, RunProtocol } from '../../../engine/work.ts';
import { appendEvents } from '../../../store/events.ts';
import { defineTool, type Tool, type ToolReply } from '../../../tools/contract.ts';
import { createJudgedCalls } from '../../shared/judged-calls.ts';
import type { BeadJudge, JudgedBead } from './judge-completion.ts';
import { type Completion, type DoneInput, doneSchema, type SaidDone } from './model.ts';
import { countFailure, findTry, markRed } from './rows.ts';
import type { BeadRun, BeadWork } from './work-data.ts';

declare module '../../../domain/events.ts' {
  interface LoopEventTypes {
    'bead.taken': true;
    'bead.rejected': true;
    'bead.closed': true;
    'bead.blocked': true;
    'bead.asked': true;
    'bead.merging': true;
    'bead.returned': true;
    'bead.released': true;
    'worker.online': true;
    'worker.left': true;
    'swarm.workers': true;
  }
}

export interface BeadProtocolOptions extends ProtocolRun<BeadWork> {
  judge: BeadJudge;
  /** Mail and reservations. */
  more: readonly Tool[];
  askScope(request: { files: string[]; reason: string }): Promise<ToolReply>;
  /** Why the agent may not change this file now; `null`: it may. */
  refuseEdit(path: string): Promise<string | null>;
  /** New mail, in words; `null`: none. */
  takeNews(): Promise<string | null>;
}

export function createBeadProtocol(options: BeadProtocolOptions): RunProtocol {
  const { attempt, work, judge, more, askScope, refuseEdit, takeNews } = options;
  let completion: Completion | null = null;
  let records: VerificationRecord[] | undefined;
  let reasons: string[] = [];
  let outside: string[] | undefined;
  let failures: number | undefined;
  let hasCompacted = false;
  let isAlone = false;
  const context: ContextTold = {};
  const calls = createJudgedCalls<SaidDone>({
    signal: options.signal,
    resultTool: 'bead_done_result',
    judge: (input, signal) => judgeNow(input, signal).finally(() => attempt.enter?.('agent')),
  });

  async function judgeNow(input: SaidDone, signal: AbortSignal): Promise<ToolReply> {
    attempt.enter?.('judging');
    const judged = await judge.completion(attempt, work, { input, signal });
    signal.throwIfAborted();
    records = judged.records;
    ({ reasons, outside } = judged);
    if (judged.completion) {
      completion = judged.completion;
      return { ok: true, output: acceptedWords(completion) };
    }
    // A rejection that the agent never hears is not held against the bead.
    if (isAlone) return { ok: false, output: 'The run is over.', reasons };
    failures = await recordRejection(options, judged);
    return { ok: false, output: 'Not accepted yet. Fix this, then call bead_done again.', reasons };
  }

  return {
    tools: [
      defineTool({
        name: 'bead_done',
        description:
          'Say that this bead is finished. Pulse runs its verify commands, and answers with ok or with every reason why not.',
        input: doneSchema,
        call: (input) => calls.ask(input as DoneInput),
      }),
      defineTool({
        name: 'bead_done_result',
        description: 'Ask for the outcome of a bead_done that answered with a pending id.',
        input: z.object({ id: z.string().max(200) }),
        call: ({ id }) => calls.result(id),
      }),
      defineTool({
        name: 'tdd_red',
        description:
          'In a bead with testing_mode tdd-required, before any production code: Pulse runs the red command now. It must fail by a failing test.',
        input: z.object({}),
        call: () => seeRed(options),
      }),
      defineTool({
        name: 'request_scope',
        description:
          'Ask for files that the bead does not list. The coordinator decides; until then leave them alone.',
        input: z.object({
          files: z.array(z.string().min(1).max(4_096)).min(1).max(100),
          reason: z.string().min(1).max(10_000),
        }),
        call: askScope,
      }),
      ...more,
    ],
    refuseEdit,
    takeNews,
    saw(event) {
      if (event.type === 'usage') note(context, event);
      if (event.type !== 'compacted' || completion) return;
      // What it knew of the rules is gone: it stops, and the next run reads them again first.
      hasCompacted = true;
      options.endRun?.();
    },
    called({ name, input }) {
      if (name === 'report_usage') note(context, (input ?? {}) as ContextTold);
    },
    async settled({ isClean, finalMessage }) {
      // A shell-only agent says it by its exit, and the summary by its first line.
      const isSaid = isClean && attempt.spec.agent === 'command' && !calls.isAsked();
      const [summary = ''] = finalMessage.trim().split('\n');
      if (isSaid) void calls.ask({ summary: summary || work.beadId, decisions: null, followUps: [] });
      else isAlone = true;
      await calls.settle({ isClean });
    },
    report: () => ({
      ...(completion ? { accepted: { tree: completion.tree, leftOut: completion.leftOut } } : {}),
      ...(records ? { checks: records } : {}),
      own: {
        ...{ completion, reasons, outside, failures, contextUsed: shareOf(context) },
        ...(hasCompacted ? { hasCompacted } : {}),
      } satisfies BeadRun,
    }),
  };
}

function acceptedWords({ judgement }: Completion): string {
  const said =
    judgement?.verdict === 'ask'
      ? 'The bead is done but for the checks that it changed: a person decides about them.'
      : 'The bead is accepted.';
  return `${said} Do not change anything more; end your run now.`;
}

/** From then on production code may change, in later runs of the bead too. */
async function seeRed({ attempt, work, judge, signal, listener }: BeadProtocolOptions): Promise<ToolReply> {
  const reply = await judge.red(attempt, work, signal);
  if (reply.ok) await listener.write('red', (db) => markRed(db, work.tryId));
  return reply;
}

interface ContextTold {
  contextTokens?: number;
  contextWindow?: number;
}

/** Some agents tell the tokens with each call, and the window at the end alone. */
function note(context: ContextTold, { contextTokens, contextWindow }: ContextTold): void {
  context.contextTokens = contextTokens ?? context.contextTokens;
  context.contextWindow = contextWindow ?? context.contextWindow;
}

/** How full the context of the last model call was. */
function shareOf({ contextTokens, contextWindow }: ContextTold): number | null {
  return contextTokens && contextWindow ? contextTokens / contextWindow : null;
}

/** Durable before the agent is told. Returns how many verifications of the bead have failed by now. */
function recordRejection(
  { attempt, work, listener }: BeadProtocolOptions,
  { reasons, isVerified }: JudgedBead,
): Promise<number | undefined> {
  const { sessionId, iteration } = attempt;
  return listener.write('reject', async (db) => {
    const failures = isVerified ? await countFailure(db, work.tryId) : undefined;
    const data = { bead: work.beadId, reasons, failures };
    await appendEvents(db, sessionId, [{ type: 'bead.rejected', iteration, data }]);
    // Who follows the swarm sees it too.
    const swarm = (await findTry(db, work.tryId))?.swarm_id;
    if (swarm !== undefined && swarm !== sessionId)
      await appendEvents(db, swarm, [{ type: 'bead.rejected', data }]);
    return failures;
  });
}
