/** (s) What several workers bring, and how soon the worktree of one is ready. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyPrepared } from '../src/engine/workspace/copy-prepared.ts';
import { createGit } from '../src/git/exec.ts';
import { capture } from '../src/process/capture.ts';
import { createSwarmScene } from '../test/beads/swarm-scene.ts';
import { createScratch } from '../test/fakes/scratch.ts';
import { ms, type Row, tell, times } from './row.ts';
import { median } from './statistics.ts';

const BEADS = 12;
const WORKERS = 4;
const AGENT = `sleep 2; echo "$PULSE_UNIT" > $PULSE_UNIT.txt; echo done`;
const INSTALLS = 3;
const PACKAGES = 100;
const FILES_A_PACKAGE = 200;

tell([await measureWorkers(), await measureWorktree()]);

async function measureWorkers(): Promise<Row> {
  const alone = await swarmTime(1);
  const several = await swarmTime(WORKERS);
  const ratio = alone / several;
  return {
    what: `(s) ${BEADS} independent beads, ${WORKERS} workers, an agent of 2 s`,
    measured: ms(several),
    beside: `one worker: ${ms(alone)}`,
    result: `${times(ratio)} as fast`,
    target: '≥ 3.2×',
    isMet: ratio >= 3.2,
  };
}

/** Of a whole swarm, from its start to its end; the repository and the beads are there before. */
async function swarmTime(workers: number): Promise<number> {
  await using scene = await createSwarmScene();
  for (let index = 0; index < BEADS; index++) await scene.bead(`b${index}`);
  const began = performance.now();
  const id = await scene.start(AGENT, { workers });
  const { session } = await scene.drive(id);
  if (session.status !== 'complete') throw new Error(`${session.status}: ${session.blocked_reason}`);
  return performance.now() - began;
}

/** A real install from packages on this disk, against a copy of what it made. */
async function measureWorktree(): Promise<Row> {
  using scratch = createScratch();
  const git = createGit({ exec: (call) => capture({ file: 'git', ...call }), env: scratch.environment });
  writePackages(scratch.repository);
  scratch.git('add', '-A');
  scratch.git('commit', '-q', '-m', 'packages');
  const [fresh, copied]: number[][] = [[], []];
  let made = 0;
  const worktree = (): string => {
    const path = join(scratch.path, `worktree-${made++}`);
    scratch.git('worktree', 'add', '-q', '--detach', path);
    return path;
  };
  for (let round = 0; round < INSTALLS; round++) {
    let began = performance.now();
    const from = worktree();
    npm(from, 'ci');
    fresh!.push(performance.now() - began);
    writeFileSync(join(scratch.repository, `.git/worktrees/worktree-${made - 1}/pulse-prepared`), 'same');
    began = performance.now();
    const isCopied = await copyPrepared(git, { from, to: worktree(), mark: 'same' });
    copied!.push(performance.now() - began);
    if (!isCopied) throw new Error('nothing was copied');
  }
  const isCloned = canClone(scratch.path);
  const share = median(copied!) / median(fresh!);
  const most = isCloned ? 0.1 : 0.5;
  return {
    what: `(s) a worker’s worktree with ${(PACKAGES * FILES_A_PACKAGE).toLocaleString('en')} installed files, by ${isCloned ? 'clones' : 'copies'}`,
    measured: ms(median(copied!)),
    beside: `\`npm ci\` from packages on the same disk: ${ms(median(fresh!))}`,
    result: times(share),
    target: `≤ ${most}×`,
    isMet: share <= most,
  };
}

function npm(cwd: string, ...args: string[]): void {
  const quiet = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', [...args, ...quiet], { cwd, stdio: 'ignore' });
}

/** As tarballs in the repository, with a lockfile that names them. */
function writePackages(root: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-bench-packages-'));
  mkdirSync(join(root, 'packages'));
  const dependencies: Record<string, string> = {};
  for (let index = 0; index < PACKAGES; index++) {
    const [name, place] = [`p${index}`, join(folder, 'package')];
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    for (let file = 1; file < FILES_A_PACKAGE; file++)
      writeFileSync(join(place, `f${file}.js`), `export const f = ${file};\n`.repeat(100));
    execFileSync('tar', ['-czf', join(root, `packages/${name}.tgz`), '-C', folder, 'package']);
    rmSync(place, { recursive: true });
    dependencies[name] = `file:packages/${name}.tgz`;
  }
  rmSync(folder, { recursive: true });
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ name: 'bench', version: '1.0.0', dependencies }),
  );
  writeFileSync(join(root, '.gitignore'), 'node_modules\n');
  npm(root, 'install', '--package-lock-only');
}

function canClone(folder: string): boolean {
  writeFileSync(join(folder, 'one'), 'one');
  try {
    execFileSync('cp', ['--reflink=always', 'one', 'two'], { cwd: folder, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
