#!/usr/bin/env node
// Finds a Node.js that can run Pulse, then hands over to src/cli/main.ts (or dist/cli/main.js once published). This
// file itself parses under any Node.js that knows modules.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED = [24, 15];
const WRAPPER = 'PULSE_WRAPPER_PID';
const program = fileURLToPath(import.meta.url);
const root = dirname(dirname(program));
const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v' || argv[0] === 'version')) {
  console.log(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
} else if (isNewEnough(process.versions.node)) {
  await runHere();
} else {
  runWithOwnNode();
}

async function runHere() {
  endWithWrapper();
  silenceExperimentalWarnings();
  enableCompileCache();
  if (argv[0] === 'supervise') {
    const { superviseRunner } = await load('process/supervise');
    process.exit((await superviseRunner({ program, sessionId: argv[1] })) === 'gave_up' ? 1 : 0);
  }
  await (await load('cli/main')).main({ argv, program });
}

function load(name) {
  const source = join(root, `src/${name}.ts`);
  return import(pathToFileURL(existsSync(source) ? source : join(root, `dist/${name}.js`)).href);
}

/** The same command under the Node.js that `npm install` put beside Pulse. */
function runWithOwnNode() {
  const node = ownNode();
  if (node === null) {
    console.error(
      `error: Pulse needs Node.js ${NEEDED.join('.')} or newer; this is ${process.versions.node}.`,
    );
    console.error(
      `hint: Install it from https://nodejs.org, or run \`npm install\` in ${root} to get the project's own.`,
    );
    process.exitCode = 2;
    return;
  }
  const child = spawn(node, [program, ...argv], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [WRAPPER]: String(process.pid) },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`error: ${node} could not be started: ${error.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
}

/** Who ends the process that was started with a signal that cannot be passed on means this one. */
function endWithWrapper() {
  const isWrapped = process.env[WRAPPER] === String(process.ppid) && process.channel;
  delete process.env[WRAPPER];
  if (!isWrapped) return;
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel.unref();
}

/** `null` also when it is the one that runs this: it must not start itself for ever. */
function ownNode() {
  const node = join(root, 'node_modules/node/bin/node');
  return existsSync(node) && realpathSync(node) !== realpathSync(process.execPath) ? node : null;
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

/** node:sqlite announces itself as experimental on every start; other warnings are still shown. */
function silenceExperimentalWarnings() {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') console.error(`(node) ${warning.name}: ${warning.message}`);
  });
}

/** Start-up is a feature. Without a folder of the user's own it is only slower: in a shared one others could put code. */
function enableCompileCache() {
  const cache = process.env.XDG_CACHE_HOME || (process.env.HOME && join(process.env.HOME, '.cache'));
  try {
    if (cache) module.enableCompileCache(join(cache, 'pulse', 'compile-cache'));
  } catch {
    return;
  }
}
