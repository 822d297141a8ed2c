/** A worktree with the work tools of one run, beside things that are none of the run's business. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ToolReply } from '../../../src/tools/contract.ts';
import type { WorkContext, WorkLimits } from '../../../src/tools/work/context.ts';
import { createWorkTools } from '../../../src/tools/work/work-tools.ts';

export interface WorkScene extends AsyncDisposable {
  root: string;
  /** Beside the worktree. */
  outside: string;
  runId: string;
  call(name: string, input: unknown): Promise<ToolReply>;
  write(path: string, content: string | Uint8Array): string;
  read(path: string): string;
  bytes(path: string): Buffer;
  git(...args: string[]): string;
}

export interface SceneOptions {
  files?: Record<string, string | Uint8Array>;
  limits?: Partial<WorkLimits>;
  notCode?: WorkContext['notCode'];
  findByMeaning?: WorkContext['findByMeaning'];
  refuseEdit?: WorkContext['refuseEdit'];
  /** Where the folder is made; the temporary one by default. */
  base?: string;
  /** Looked in for programs before the usual places. */
  programs?: string;
}

let scenes = 0;

export function createWorkScene(options: SceneOptions = {}): WorkScene {
  const { files = {}, base = tmpdir(), programs, ...context } = options;
  const folder = realpathSync(mkdtempSync(join(base, 'pulse-work-')));
  const root = join(folder, 'worktree');
  const outside = join(folder, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', ...args], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trimEnd();
  git('init', '-q', '-b', 'main');
  const write = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    return join(root, path);
  };
  for (const [path, content] of Object.entries(files)) write(path, content);
  const runId = `test-work-${process.pid}-${++scenes}`;
  const { PATH: usual = '/usr/bin:/bin', HOME = '/root' } = process.env;
  const PATH = programs === undefined ? usual : `${programs}:${usual}`;
  const work = createWorkTools({ worktree: root, runId, environment: { PATH, HOME }, ...context });
  return {
    root,
    outside,
    runId,
    git,
    write,
    call(name, input) {
      const tool = work.tools.find((each) => each.name === name);
      if (!tool) throw new Error(`no tool ${name}`);
      return tool.call(input);
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    bytes: (path) => readFileSync(join(root, path)),
    async [Symbol.asyncDispose]() {
      await work[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
