/** The tools of a run: Pulse's own, those for its files and its shell, and those of its loop. */

import { agentEnvironment } from '../../process/environment.ts';
import { heldOutBelow } from '../../referee/held-out.ts';
import type { Tool } from '../../tools/contract.ts';
import { createCallGuard } from '../../tools/guard/call-guard.ts';
import { pulseSignalTool, reportUsageTool } from '../../tools/run-tools.ts';
import { createWorkTools, WORK_TOOLS } from '../../tools/work/work-tools.ts';
import { attemptEnvironment } from '../attempt/attempt-environment.ts';
import type { HeldAttempt, RunListener } from '../ports.ts';
import type { RunProtocol } from '../work.ts';
import type { AgentHostOptions } from './agent-host.ts';
import { createWrapUp } from './deadline-notice.ts';
import { createNews, withNews } from './deliver-news.ts';
import type { RunState } from './run-state.ts';

export interface Toolbox extends AsyncDisposable {
  readonly tools: Tool[];
  /** Asked before an agent's own tool is used. */
  readonly guard: ReturnType<typeof createCallGuard>;
}

export interface ToolboxRequest {
  attempt: HeldAttempt;
  listener: RunListener;
  run: RunState;
  own: RunProtocol | null;
}

export async function openToolbox(
  options: AgentHostOptions,
  { attempt, listener, run, own }: ToolboxRequest,
): Promise<Toolbox> {
  const { environment, stateDirectory } = options;
  const { spec } = attempt;
  await using open = new AsyncDisposableStack();
  const wrapUp = open.use(createWrapUp(spec.limits));
  const kept = [spec.projectPath, ...(stateDirectory ? [stateDirectory] : [])];
  const refuseEdit = own?.refuseEdit;
  const takeNews = createNews(listener, own);
  const work = await openWorkTools(options, { attempt, kept, open, refuseEdit });
  const tools = [
    pulseSignalTool(run.signalled),
    reportUsageTool((usage) => {
      run.reported(usage);
      listener.event({ type: 'agent.usage', data: { ...usage, scope: 'call' } });
    }),
    ...work,
    ...(options.contextTools?.({ projectId: spec.projectKey }) ?? []),
    ...(own?.tools.map((tool) => redacting(tool, run.redactJson)) ?? []),
  ]
    .filter((tool) => spec.tools.includes(tool.name))
    .map((tool) => followed(tool, (call) => own?.called?.(run.redactJson(call))))
    .map((tool) => withNews(wrapUp.tell(tool), takeNews));
  const guard = createCallGuard({
    worktree: spec.worktreePath,
    environment: agentEnvironment({ base: environment, own: [], pass: [], add: {} }),
    kept,
    readsOnly: attempt.room?.isReadOnly,
    refuseEdit,
    takeNews,
    onRefusal: run.refused,
  });
  const closing = open.move();
  return { tools, guard, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

interface WorkToolsRequest extends Pick<RunProtocol, 'refuseEdit'> {
  attempt: HeldAttempt;
  kept: string[];
  open: AsyncDisposableStack;
}

/** For agents that have no tools of their own, and for those that may search by meaning. */
async function openWorkTools(
  { environment, sandboxes, indexes, works }: AgentHostOptions,
  { attempt, kept, open, refuseEdit }: WorkToolsRequest,
): Promise<Tool[]> {
  const { spec, runId } = attempt;
  if (!spec.tools.some(isWorkTool)) return [];
  const { keepOut } = works.gitOf(spec);
  // Checks that no agent may see.
  const notCode = [...keepOut, ...(await heldOutBelow(spec.projectPath, spec.referee?.heldOut ?? []))];
  const index = spec.tools.includes('semantic_search')
    ? indexes?.open({ worktree: spec.worktreePath, except: notCode, project: spec.projectKey })
    : undefined;
  if (index) open.use(index);
  const work = createWorkTools({
    worktree: spec.worktreePath,
    runId,
    // No adapter's keys: what an agent runs in a shell is not the agent.
    environment: attemptEnvironment(attempt, environment),
    sandbox: await sandboxes.plan({ spec, room: attempt.room }),
    kept,
    notCode,
    refuseEdit,
    findByMeaning: index?.search,
  });
  return [...open.use(work).tools];
}

function isWorkTool(name: string): boolean {
  return (WORK_TOOLS as readonly string[]).includes(name);
}

/** What an agent tells by a loop's tools is kept: commit messages, reasons, descriptions. */
function redacting(tool: Tool, redact: (input: unknown) => unknown): Tool {
  return { ...tool, call: (input) => tool.call(redact(input)) };
}

function followed(tool: Tool, called: NonNullable<RunProtocol['called']>): Tool {
  return {
    ...tool,
    async call(input) {
      const reply = await tool.call(input);
      called({ name: tool.name, input, reply });
      return reply;
    },
  };
}
