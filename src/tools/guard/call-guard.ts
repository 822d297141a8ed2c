/**
 * The guard of Pulse's own tools, for agents that have tools of their own: their hooks ask before a call is made. It
 * deters from accidents as there, and contains nothing (docs/security.md). After a call the hooks of some ask again,
 * and take what is new to the agent.
 */
import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { gitFacts } from '../work/git-facts.ts';
import { isWithin } from '../work/paths.ts';
import { realPathOf, refusalsOf, writeRefusal } from '../work/shell-guard.ts';
import {
  answerAfterCall,
  answerHook,
  type HookAnswer,
  isAfterCall,
  isHookFormat,
  readHook,
} from './hook-formats.ts';

export interface CallGuard {
  /** What the agent's hook is told; `null` for a format that nobody speaks. Never throws for what the agent sends. */
  answer(format: string, input: unknown): Promise<HookAnswer | null>;
}

export interface CallGuardOptions {
  worktree: string;
  /** The agent's: it says where its home and its temporary folder are. */
  environment: Record<string, string>;
  /** Folders that no call may write to, wherever they lie: the user's checkout, Pulse's own. */
  kept?: readonly string[];
  /** Why this file of the worktree may not be changed now, from its root; `null`: it may. */
  refuseEdit?(path: string): Promise<string | null>;
  /** Nothing is changed and nothing is run: the agent only reads. */
  readsOnly?: boolean;
  /** What the agent is told after a call of its own tools; `null`: nothing is new. */
  takeNews?(): Promise<string | null>;
  /** Told of each call that is refused. */
  onRefusal(call: { id: string | null; tool: string; reasons: readonly string[] }): void;
}

export function createCallGuard(options: CallGuardOptions): CallGuard {
  const { worktree, environment, kept, readsOnly, refuseEdit, takeNews, onRefusal } = options;
  const root = realpathSync(worktree);

  async function judge({ scripts, writes, cwd }: ReturnType<typeof readHook>): Promise<string[]> {
    if (readsOnly && scripts.length + writes.length > 0)
      return ['This run only reads: use the tools that read and search files.'];
    const from = cwd === null ? root : resolve(root, cwd);
    const reasons: string[] = [];
    for (const script of scripts) {
      const facts = await gitFacts({ root, environment }, script);
      reasons.push(...refusalsOf(script, { root, cwd: from, environment, kept, facts }));
    }
    for (const { path, tool } of writes) {
      const reason = writeRefusal(resolve(from, path), { root, environment, kept, shown: path, who: tool });
      if (reason !== null) reasons.push(reason);
    }
    return [...new Set(reasons)];
  }

  /** What the guard itself allows and the run's own rule does not. */
  async function judgeEdits({ writes, cwd }: ReturnType<typeof readHook>): Promise<string[]> {
    if (!refuseEdit) return [];
    const from = cwd === null ? root : resolve(root, cwd);
    const reasons = new Set<string>();
    for (const { path } of writes) {
      const real = realPathOf(resolve(from, path));
      if (!isWithin(root, real)) continue;
      const reason = await refuseEdit(relative(root, real).split(sep).join('/'));
      if (reason !== null) reasons.add(reason);
    }
    return [...reasons];
  }

  return {
    async answer(format, input) {
      if (!isHookFormat(format)) return null;
      if (isAfterCall(input)) return answerAfterCall(format, (await takeNews?.()) ?? null);
      const call = readHook(format, input);
      const forbidden = await judge(call);
      const reasons = forbidden.length > 0 ? forbidden : await judgeEdits(call);
      if (reasons.length > 0) onRefusal({ id: call.id, tool: call.tool, reasons });
      return answerHook(format, { reasons, isForbidden: forbidden.length > 0 });
    },
  };
}
