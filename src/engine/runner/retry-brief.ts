/** The brief of an attempt that is done again: its kind of work's own, with what happened before it. */
import type { Engine } from '../engine.ts';
import type { LiveIteration, SessionState } from '../loop.ts';
import type { ComposedBrief } from '../ports.ts';
import type { Interruption } from '../work.ts';

export function composeRetryBrief(
  engine: Engine,
  { state, live, interruption }: { state: SessionState; live: LiveIteration; interruption: Interruption },
): Promise<ComposedBrief> {
  const { kind, work } = engine.loops.works.of(live.task.spec);
  return kind.composeRetryBrief(engine, { state: state as SessionState<never>, live, work, interruption });
}
