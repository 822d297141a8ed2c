/** The thread in which code is indexed: behind everything else on this machine, as far as the system lets it. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createIndexer } from './indexer.ts';
import type { IndexerData, ToIndexer } from './messages.ts';

const BACKGROUND = 10;

try {
  // On Linux a thread has a priority of its own, under its own number.
  setPriority(Number(readlinkSync('/proc/thread-self').split('/').pop()), BACKGROUND);
} catch {
  // Elsewhere it would be the whole process's.
}
const port = parentPort!;
const { folder } = (workerData ?? {}) as IndexerData;
const indexer = createIndexer((message) => port.postMessage(message), { folder });
port.on('message', (message: ToIndexer) => indexer.receive(message));
