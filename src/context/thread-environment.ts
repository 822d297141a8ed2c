import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Of a thread. The compile cache that a process has turned on is not its threads': without one each would translate its
 * own code, which takes as long as the thread's work and leaves 20 MB with the process for good.
 */
export function threadEnvironment(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  // What is told is the folder of this version of Node in the one that was given.
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
}
