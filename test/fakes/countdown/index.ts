/**
 * The smallest loop that uses the whole seam: each run counts one number down with a tool of the loop's own, a child
 * session counts beside it, and a step of the host lights the fuse before the last number.
 */
import * as z from 'zod';
import { act } from '../../../src/engine/actions.ts';
import type { Loop, SessionState, Step, Verdict } from '../../../src/engine/loop.ts';
import type { LoopModule } from '../../../src/engine/loops.ts';
import { plainBrief } from '../../../src/engine/runner/plain-brief.ts';
import type { RunProtocol, WorkKind } from '../../../src/engine/work.ts';
import { baseStep } from '../../../src/loops/shared/base-step.ts';
import { judgeFailure } from '../../../src/loops/shared/failures.ts';
import { loopSignal, stopBeforeNext } from '../../../src/loops/shared/verdict-parts.ts';
import { appendEvents } from '../../../src/store/events.ts';
import { listChildren, type Session } from '../../../src/store/sessions.ts';
import { defineTool } from '../../../src/tools/contract.ts';
import {
  type Countdown,
  countdownMigration,
  findCountdown,
  insertCountdown,
  updateCountdown,
} from './rows.ts';

declare module '../../../src/domain/events.ts' {
  interface LoopEventTypes {
    'countdown.counted': true;
    'countdown.lit': true;
    'countdown.joined': true;
  }
}

/** An agent that first counts wrongly, and is refused. */
export const COUNT_COMMAND = `cat > /dev/null
n=\${PULSE_UNIT#count-}
pulse tool count_down "{\\"number\\": $((n + 1))}" && exit 1
echo "$n" > count.txt
pulse tool count_down "{\\"number\\": $n}" > /dev/null`;

export const countdown: LoopModule = {
  kind: 'countdown',
  migrations: [countdownMigration],
  open: async () => countdownLoop,
};

interface CountdownState {
  countdown: Countdown;
  helpers: readonly Session[];
}

const workSchema = z.object({ kind: z.literal('count'), at: z.number() });
type CountWork = z.infer<typeof workSchema>;

const runSchema = z.object({ counted: z.number().nullable() });

const countdownLoop: Loop<CountdownState> = {
  kind: 'countdown',
  actions: ['light_fuse'],
  works: [countWork()],
  async load(db, { session }) {
    const row = await findCountdown(db, session.id);
    return { countdown: row, helpers: await listChildren(db, session.id) };
  },
  decide(state) {
    const base = baseStep(state);
    if (base) return base;
    return state.live ? judge(state) : next(state);
  },
  steps: {
    light: {
      async perform({ store, trace }, { state, token }) {
        const { id } = state.session;
        await act(trace, 'light_fuse', {
          perform: () =>
            store.tx(
              'light_fuse',
              async (db) => {
                await updateCountdown(db, id, { is_fuse_lit: 1 });
                await appendEvents(db, id, [{ type: 'countdown.lit' }], { token });
              },
              { session: id },
            ),
        });
      },
    },
  },
  children: ({ helpers }) => helpers,
  hooks: {
    async settle(db, { state, verdict }) {
      if (verdict.change === undefined) return [];
      const { counted } = verdict.change as { counted: number };
      await updateCountdown(db, state.session.id, { at: counted - 1 });
      return [{ type: 'countdown.counted', data: { number: counted } }];
    },
    spawned: (helpers) => [{ type: 'countdown.joined', data: { helpers } }],
  },
};

function next(state: SessionState<CountdownState>): Step {
  const { countdown: row, helpers } = state.own;
  const stop = stopBeforeNext(state);
  if (stop) return { do: 'end', stop };
  if (row.has_helper && helpers.length === 0)
    return {
      do: 'spawn',
      children: [
        {
          goal: 'Count beside it',
          branch: `${state.session.branch_name}-helper`,
          write: (db, sessionId) => insertCountdown(db, { sessionId, from: 1, hasHelper: false }),
        },
      ],
    };
  if (row.at === 0) {
    if (helpers.some(({ status }) => status === 'running' || status === 'pending')) return { do: 'wait' };
    return { do: 'end', stop: { status: 'complete', reason: 'completed', detail: null } };
  }
  if (row.at === 1 && !row.is_fuse_lit) return { do: 'host', name: 'light', data: null };
  return { do: 'run', work: 'count', data: { at: row.at } };
}

function judge(state: SessionState<CountdownState>): Step {
  const live = state.live!;
  const result = live.task.result!;
  const failure = judgeFailure(state, live, result);
  if (failure) return failure;
  const { counted } = runSchema.parse(result.run?.own ?? { counted: null });
  const verdict: Verdict = {
    ...loopSignal('CONTINUE'),
    status: 'complete',
    outcome: counted === null ? 'continued' : 'completed',
    reason: null,
    ...(counted === null ? {} : { change: { counted } }),
    stop: stopBeforeNext(state),
  };
  return { do: 'settle', live, result, verdict };
}

function countWork(): WorkKind<CountWork> {
  return {
    kind: 'count',
    read: (stored) => workSchema.parse(stored),
    async plan(_, { data }) {
      const { at }: { at: number } = data;
      return {
        unit: `count-${at}`,
        brief: plainBrief(`Write ${at} into count.txt and call count_down with it.`),
        part: { role: 'counter', verifyOn: 'never', work: { kind: 'count', at } },
        moreTools: ['count_down'],
      };
    },
    composeRetryBrief: async (_, { work }) => plainBrief(`Count ${work.at} again.`),
    git: ({ at }) => ({ trailers: { 'Countdown-Number': String(at) } }),
    message: ({ work }) => ({ subject: `count: ${work.at}` }),
    protocol: ({ work }) => countProtocol(work),
  };
}

function countProtocol({ at }: CountWork): RunProtocol {
  let counted: number | null = null;
  const tool = defineTool({
    name: 'count_down',
    description: 'Count one number down.',
    input: z.object({ number: z.number() }),
    call({ number }) {
      if (number !== at) return { ok: false, output: `Not ${number}: it is ${at}'s turn.` };
      counted = number;
      return { ok: true, output: 'Counted.' };
    },
  });
  return { tools: [tool], report: () => ({ own: { counted } }) };
}
