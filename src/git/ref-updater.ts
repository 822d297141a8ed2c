/** Ref transactions through one `git update-ref --stdin` that stays, instead of a process for each. */
import type { GitCall, GitResult } from './exec.ts';

/** Disposing of it waits until its processes have ended. */
export interface RefUpdater extends AsyncDisposable {
  /** All lines or none. `onStart` is told when a process had to be started for it. */
  update(call: GitCall, lines: string, onStart: () => void): Promise<GitResult>;
}

interface Talk {
  write(text: string): void;
  close(): void;
}

export type OpenTalk = (
  call: GitCall,
  events: { said(text: string): void; ended(end: { code: number; stderr: string }): void },
) => Talk;

interface Keeper {
  talk: Talk;
  /** What came back since the question. */
  answer: string;
  settle: ((result: { code: number; stderr: string } | null) => void) | null;
  ended: PromiseWithResolvers<void>;
}

/** One process a repository. A refused transaction ends it (that is git's way); the next one starts another. */
export function createRefUpdater(open: OpenTalk): RefUpdater {
  const keepers = new Map<string, Keeper>();
  const turns = new Map<string, Promise<unknown>>();

  function keeperOf(call: GitCall, onStart: () => void): Keeper {
    const known = keepers.get(call.cwd);
    if (known) return known;
    onStart();
    const keeper: Keeper = {
      talk: { write: () => undefined, close: () => undefined },
      answer: '',
      settle: null,
      ended: Promise.withResolvers(),
    };
    keeper.talk = open(call, {
      said(text) {
        keeper.answer += text;
        if (keeper.answer.includes('commit: ok\n')) keeper.settle?.(null);
      },
      ended(end) {
        if (keepers.get(call.cwd) === keeper) keepers.delete(call.cwd);
        keeper.ended.resolve();
        keeper.settle?.(end);
      },
    });
    keepers.set(call.cwd, keeper);
    return keeper;
  }

  function ask(keeper: Keeper, lines: string): Promise<{ code: number; stderr: string } | null> {
    return new Promise((resolve) => {
      keeper.answer = '';
      keeper.settle = (result) => {
        keeper.settle = null;
        resolve(result);
      };
      keeper.talk.write(`start\n${lines}prepare\ncommit\n`);
    });
  }

  async function transact(call: GitCall, lines: string, onStart: () => void): Promise<GitResult> {
    for (let tries = 1; ; tries++) {
      const isFresh = !keepers.has(call.cwd);
      const keeper = keeperOf(call, onStart);
      const failed = await ask(keeper, lines);
      if (!failed) return { code: 0, stdout: Buffer.alloc(0), stderr: '' };
      // A kept process that died before it took the question did nothing of it: a fresh one is asked again.
      const wasDead = !isFresh && !keeper.answer.includes('start: ok');
      if (!wasDead || tries > 1) return { ...failed, stdout: Buffer.alloc(0) };
    }
  }

  return {
    update(call, lines, onStart) {
      const turn = (turns.get(call.cwd) ?? Promise.resolve()).then(() => transact(call, lines, onStart));
      turns.set(
        call.cwd,
        turn.catch(() => undefined),
      );
      return turn;
    },
    async [Symbol.asyncDispose]() {
      const open = [...keepers.values()];
      for (const { talk } of open) talk.close();
      await Promise.all(open.map(({ ended }) => ended.promise));
    },
  };
}
