/** Once for a whole run: the seed, a cache of compiled code for all processes, and a PostgreSQL for all files. */
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServedPostgres, serveTemplates } from '../fakes/shared-postgres.ts';

export default async function setUp(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'pulse-run-'));
  process.env.PULSE_TEST_SEED ??= String(randomInt(2 ** 31));
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compile-cache');
  process.env.PULSE_TEST_PACKAGE = join(folder, 'package');
  process.env.PULSE_TEST_POSTGRES = join(folder, 'postgres.sock');
  console.log(`PULSE_TEST_SEED=${process.env.PULSE_TEST_SEED}`);
  const postgres = await answerAt(process.env.PULSE_TEST_POSTGRES);
  return async () => {
    await postgres[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}

/** Whoever connects is told the address of the server, which is started for the first. */
async function answerAt(path: string): Promise<AsyncDisposable> {
  let served: Promise<ServedPostgres> | null = null;
  const socket = createServer((client) => {
    client.on('error', () => undefined);
    served ??= serveTemplates();
    served.then(
      ({ url }) => client.end(JSON.stringify({ url })),
      (error: Error) => client.end(JSON.stringify({ error: error.message })),
    );
  });
  await new Promise<void>((resolve) => socket.listen(path, resolve));
  return {
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => socket.close(resolve));
      const server = await served?.catch(() => null);
      await server?.[Symbol.asyncDispose]();
    },
  };
}
