/** Git processes that stay and answer, instead of a process for each question. */
import type { GitCall, GitResult } from './exec.ts';

/** Disposing of it waits until its processes have ended. */
export interface PersistentGit extends AsyncDisposable {
  /** One after the other for each process. `onStart` is told when one had to be started for it. */
  ask(call: GitCall, question: Question, onStart: () => void): Promise<GitResult>;
  /** Starts the process ahead of its first question. */
  open(call: GitCall, onStart: () => void): void;
}

export interface Question {
  text: string;
  /** What the answer ends with. */
  end: string;
  /** Whether git had begun with it when it ended: then it is not asked again. By default a question may be repeated. */
  isBegun?(said: Buffer): boolean;
}

interface Talk {
  write(text: string): void;
  close(): void;
  /** Ends it at once. */
  kill(): void;
}

export type OpenTalk = (
  call: GitCall,
  events: { said(chunk: Buffer): void; ended(end: { code: number; stderr: string }): void },
) => Talk;

interface Keeper {
  talk: Talk;
  /** What came back since the question. */
  said: Buffer[];
  end: Buffer;
  settle: ((end: { code: number; stderr: string } | null) => void) | null;
  ended: PromiseWithResolvers<void>;
}

/** No answer takes a fraction of it. */
const ANSWER_LIMIT_MS = 10 * 60_000;

/** One process for each folder and command. One that ends (git's way to refuse) is replaced at the next question. */
export function createPersistentGit(open: OpenTalk): PersistentGit {
  const keepers = new Map<string, Keeper>();
  const turns = new Map<string, Promise<unknown>>();

  function keeperOf(key: string, call: GitCall, onStart: () => void): Keeper {
    const known = keepers.get(key);
    if (known) return known;
    onStart();
    const keeper: Keeper = {
      talk: { write: () => undefined, close: () => undefined, kill: () => undefined },
      said: [],
      end: Buffer.alloc(0),
      settle: null,
      ended: Promise.withResolvers(),
    };
    keeper.talk = open(call, {
      said(chunk) {
        keeper.said.push(chunk);
        if (endsWith(keeper)) keeper.settle?.(null);
      },
      ended(end) {
        if (keepers.get(key) === keeper) keepers.delete(key);
        keeper.ended.resolve();
        keeper.settle?.(end);
      },
    });
    keepers.set(key, keeper);
    return keeper;
  }

  function put(keeper: Keeper, question: Question): Promise<{ code: number; stderr: string } | null> {
    return new Promise((resolve) => {
      // The process itself keeps nothing alive; a question that waits for its answer does, though not for ever.
      const limit = setTimeout(() => keeper.talk.kill(), ANSWER_LIMIT_MS);
      keeper.said = [];
      keeper.end = Buffer.from(question.end);
      keeper.settle = (end) => {
        keeper.settle = null;
        clearTimeout(limit);
        resolve(end);
      };
      keeper.talk.write(question.text);
    });
  }

  async function answer(
    key: string,
    call: GitCall,
    { question, onStart }: { question: Question; onStart: () => void },
  ): Promise<GitResult> {
    for (let tries = 1; ; tries++) {
      const isFresh = !keepers.has(key);
      const keeper = keeperOf(key, call, onStart);
      const end = await put(keeper, question);
      const stdout = Buffer.concat(keeper.said);
      if (!end) return { code: 0, stdout, stderr: '' };
      // A kept process that died before it began did nothing of it: a fresh one is asked again.
      const isRepeatable = !isFresh && !question.isBegun?.(stdout);
      if (!isRepeatable || tries > 1) return { code: end.code || 1, stdout, stderr: end.stderr };
    }
  }

  return {
    ask(call, question, onStart) {
      const key = keyOf(call);
      const turn = (turns.get(key) ?? Promise.resolve()).then(() => answer(key, call, { question, onStart }));
      turns.set(
        key,
        turn.catch(() => undefined),
      );
      return turn;
    },
    open: (call, onStart) => void keeperOf(keyOf(call), call, onStart),
    async [Symbol.asyncDispose]() {
      const open = [...keepers.values()];
      for (const { talk } of open) talk.close();
      await Promise.all(open.map(({ ended }) => ended.promise));
    },
  };
}

function keyOf({ cwd, args }: GitCall): string {
  return [cwd, ...args].join('\0');
}

/** The end may come in pieces, so the last chunks are joined until they are long enough to tell. */
function endsWith({ said, end }: Pick<Keeper, 'said' | 'end'>): boolean {
  let tail = Buffer.alloc(0);
  for (let at = said.length - 1; at >= 0 && tail.length < end.length; at--) {
    tail = Buffer.concat([said[at]!, tail]);
  }
  return tail.length >= end.length && tail.subarray(-end.length).equals(end);
}
