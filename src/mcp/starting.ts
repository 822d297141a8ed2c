/** What the starts of all loops have in common: the input in Pulse's words, who may ask for it, and the answer. */
import type * as z from 'zod';
import type { StartNotes } from '../operations/start.ts';
import type { Session } from '../store/sessions.ts';
import { type projectPath, type startFields, usd } from './inputs.ts';
import { type Caller, requireHuman, type Told } from './session-tool.ts';
import { boundedSession, noteLines } from './views.ts';

type SharedInput = z.output<z.ZodObject<{ projectPath: typeof projectPath } & typeof startFields>>;

/** As Pulse takes it. Beyond what every start has it is the loop's own, and left as it is. */
export function startWords<T extends SharedInput>(input: T) {
  const { projectPath: path, budgetUsd, timeLimit, iterationTimeout, idleTimeout, ...same } = input;
  return {
    ...same,
    path,
    createdBy: 'mcp' as const,
    budgetUsd: usd(budgetUsd),
    timeLimitMs: timeLimit,
    iterationTimeoutMs: iterationTimeout,
    idleTimeoutMs: idleTimeout,
  };
}

/** What widens a session is a person's word: to go without a sandbox the config asks for, to believe a new config. */
export function demandNarrow(caller: Caller, tool: string, { sandbox, trust }: SharedInput): void {
  if (trust) requireHuman(caller, `${tool} with trust`);
  if (sandbox === 'off' || sandbox === 'auto') requireHuman(caller, `${tool} with sandbox ${sandbox}`);
}

/** Gives the session its runner and says what was started. `next` is what the assistant should do now. */
export async function started(
  caller: Caller,
  { session, notes }: { session: Session; notes: StartNotes },
  next: string,
): Promise<Told> {
  await caller.runSession(session);
  const text = [
    `Started ${session.id}: agent ${session.agent} on branch ${session.branch_name}.`,
    ...noteLines(notes, session),
    `next: ${next}`,
  ].join('\n');
  return { text, data: { sessionId: session.id, session: boundedSession(session), notes: { ...notes } } };
}
