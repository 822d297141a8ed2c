import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoopModule } from '../../engine/loops.ts';
import { beadTables } from './table-module.ts';

/** With the extension of this module: `.ts` in a checkout, `.js` once built. */
const SHIM = fileURLToPath(new URL(`shims/graph-shim${extname(import.meta.url)}`, import.meta.url));

export const beads: LoopModule = {
  ...beadTables,
  programs: { br: SHIM, bv: SHIM },
  async open(host) {
    const { openBeadsLoop } = await import('./open.ts');
    return openBeadsLoop(host);
  },
};
