/**
 * `npm run test:agents [-- NAME...]`: installs the pinned agents into the cache and runs the real suite against them,
 * in a network of its own that has nothing but loopback, where the machine allows one.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentFolder, agentProgram, PINNED, PINNED_NAMES, type PinnedName } from './versions.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CONFIG = fileURLToPath(import.meta.resolve('./vitest.config.ts'));
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--root', ROOT, '--config', CONFIG];

const names = wantedNames(process.argv.slice(2));
for (const name of names) install(name);
process.exit(runSuite(names));

function wantedNames(args: readonly string[]): PinnedName[] {
  if (args.length === 0) return PINNED_NAMES;
  return args.map((arg) => {
    const name = PINNED_NAMES.find((known) => known === arg);
    if (name) return name;
    console.error(`There is no pinned agent "${arg}". Agents: ${PINNED_NAMES.join(', ')}.`);
    return process.exit(2);
  });
}

function install(name: PinnedName): void {
  const folder = agentFolder(name);
  const { package: packageName, version } = PINNED[name];
  if (installedVersion(folder, packageName) === version && existsSync(agentProgram(name))) return;
  console.log(`installing ${packageName}@${version} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${packageName}@${version}`];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0 || !existsSync(agentProgram(name))) {
    console.error(`${packageName}@${version} could not be installed.`);
    process.exit(1);
  }
}

function installedVersion(folder: string, packageName: string): string | null {
  const file = join(folder, 'node_modules', packageName, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : null;
}

function runSuite(wanted: readonly PinnedName[]): number {
  const suite = [process.execPath, ...VITEST, ...wanted.map((name) => `${name}.test.ts`)];
  const [file = '', ...args] = [...ownNetwork(), ...suite];
  return spawnSync(file, args, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
}

/** The words to put before a command so that it sees loopback alone; none where that is not possible. */
function ownNetwork(): string[] {
  const enter = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  for (const unshare of [
    ['unshare', '-n'],
    ['unshare', '-rn'],
  ]) {
    const [file = '', ...args] = [...unshare, ...enter, 'true'];
    if (spawnSync(file, args, { stdio: 'ignore' }).status === 0) return [...unshare, ...enter];
  }
  console.error('No network namespace here: the agents run in the network of this machine.');
  return [];
}
