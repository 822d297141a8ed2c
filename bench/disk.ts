/** What the disk under the temporary folder takes to make 4 KB durable: everything else is to be read beside this. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from './statistics.ts';

const SYNCS = 500;

export function measureDisk(): { p50: number; p99: number } {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-bench-'));
  const file = openSync(join(folder, 'file'), 'w');
  const block = Buffer.alloc(4096, 1);
  try {
    const took = Array.from({ length: SYNCS }, () => {
      const began = performance.now();
      writeSync(file, block);
      fdatasyncSync(file);
      return performance.now() - began;
    });
    return { p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
}
