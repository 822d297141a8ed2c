import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder with a repository of one commit and a state directory; gone when disposed of. */
export interface Scratch extends Disposable {
  path: string;
  repository: string;
  home: string;
  environment: NodeJS.ProcessEnv;
  git(...args: string[]): string;
  file(name: string, content: string): string;
  /** A file of the repository. */
  read(name: string): string;
}

export function createScratch(): Scratch {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'pulse-test-')));
  const repository = join(path, 'repo');
  const home = join(path, 'home');
  const environment = { ...process.env, PULSE_HOME: home, PULSE_RUN_ID: undefined };
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  const run = (cwd: string, args: string[]) =>
    execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  run(path, ['init', '-q', '-b', 'main', repository]);
  writeFileSync(join(repository, 'README.md'), '# Scratch\n');
  run(repository, ['add', '-A']);
  run(repository, ['commit', '-q', '-m', 'first']);
  return {
    path,
    repository,
    home,
    environment,
    git: (...args) => run(repository, args).trimEnd(),
    file(name, content) {
      const file = join(path, name);
      writeFileSync(file, content, { mode: 0o755 });
      return file;
    },
    read: (name) => readFileSync(join(repository, name), 'utf8'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}
