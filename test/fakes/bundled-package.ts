import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const ROOT = join(import.meta.dirname, '../..');

/** What is started as a process or a thread of its own. */
const STARTED = [
  'src/cli/main.ts',
  'src/process/supervise.ts',
  'src/agents/*/agent.ts',
  'src/context/code-index/thread.ts',
  'src/context/search/meaning-thread.ts',
  'src/loops/beads/shims/graph-shim.ts',
  'test/beads/fixtures/worker.ts',
  'test/coordination/fixtures/reserver.ts',
  'test/crash/fixtures/{after,runner,review}.ts',
];

/**
 * Pulse as it is published, but in a few large files, and where a script of it lies there. A thousand small modules cost
 * half a second of a core at each start, and the tests start thousands of processes. Outside of a run of vitest it is the
 * checkout.
 */
export async function bundlePackage(): Promise<(script: string) => string> {
  const folder = process.env.PULSE_TEST_PACKAGE;
  if (!folder) return (script) => join(ROOT, script);
  if (!existsSync(folder)) await build(folder);
  return (script) => join(folder, placeOf(script));
}

async function build(folder: string): Promise<void> {
  const unfinished = mkdtempSync(`${folder}-`);
  mkdirSync(join(unfinished, 'bin'));
  for (const name of ['bin/pulse.js', 'package.json']) copyFileSync(join(ROOT, name), join(unfinished, name));
  symlinkSync(join(ROOT, 'node_modules'), join(unfinished, 'node_modules'));
  const scripts = STARTED.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  await using bundle = await rolldown({
    input: Object.fromEntries(
      scripts.map((script) => [placeOf(script).slice(0, -'.js'.length), join(ROOT, script)]),
    ),
    platform: 'node',
    external: ['pg-native'],
    plugins: [keepPlaces(folder)],
    logLevel: 'silent',
  });
  await bundle.write({ dir: unfinished, format: 'esm', chunkFileNames: 'dist/chunks/[name]-[hash].js' });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another file of this run was quicker.
    if (!existsSync(folder)) throw error;
    rmSync(unfinished, { recursive: true });
  }
}

/** A module finds its scripts and its package as it would there if it were a file of its own. */
function keepPlaces(folder: string): Plugin {
  return {
    name: 'keep-places',
    transform: {
      filter: { id: { exclude: /node_modules/ }, code: /import\.meta\.url/ },
      handler(code, id) {
        const place = pathToFileURL(join(folder, placeOf(relative(ROOT, id)))).href;
        return code.replaceAll('import.meta.url', JSON.stringify(place));
      },
    },
  };
}

function placeOf(script: string): string {
  return script.replace(/^(src|test)\/(.*)\.ts$/, 'dist/$2.js');
}
