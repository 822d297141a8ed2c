/** A line between a page and its server that fails as lines do. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface LineProxy extends AsyncDisposable {
  url: string;
  /** How many bytes went to the page. */
  bytes: number;
  /** All connections break, and no other is taken until `mend`. */
  cut(): void;
  /** The connections that are there stay open and carry nothing more; others do. */
  freeze(): void;
  /** Each piece takes as long as it would on a slow phone. */
  slow(line: { latencyMs: number; bytesPerSecond: number } | null): void;
  mend(): void;
}

interface Pair {
  page: Socket;
  server: Socket;
  isFrozen: boolean;
}

/** `target`: the server's port. */
export async function openProxy(target: number): Promise<LineProxy> {
  const pairs = new Set<Pair>();
  let isCut = false;
  let line: { latencyMs: number; bytesPerSecond: number } | null = null;
  const server = createServer((page) => {
    if (isCut) return void page.destroy();
    const pair: Pair = { page, server: connect(target, '127.0.0.1'), isFrozen: false };
    pairs.add(pair);
    const close = (): void => {
      pairs.delete(pair);
      page.destroy();
      pair.server.destroy();
    };
    carry(pair, { from: page, to: pair.server });
    carry(pair, { from: pair.server, to: page });
    for (const end of [page, pair.server]) {
      end.on('error', close);
      end.on('close', () => {
        if (!pair.isFrozen) close();
      });
    }
  });
  const carry = (pair: Pair, { from, to }: { from: Socket; to: Socket }): void => {
    // One piece after the other, in their order.
    let last = Promise.resolve();
    from.on('data', (piece: Buffer) => {
      const waitMs = line === null ? 0 : line.latencyMs + (piece.length / line.bytesPerSecond) * 1_000;
      last = last.then(async () => {
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        if (pair.isFrozen || to.destroyed) return;
        if (to === pair.page) proxy.bytes += piece.length;
        to.write(piece);
      });
    });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: LineProxy = {
    url: `http://127.0.0.1:${portOf(server)}`,
    bytes: 0,
    cut() {
      isCut = true;
      for (const pair of pairs) pair.page.destroy();
    },
    freeze() {
      for (const pair of pairs) pair.isFrozen = true;
    },
    slow(next) {
      line = next;
    },
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const { page, server: other } of pairs) {
        page.destroy();
        other.destroy();
      }
      await closed;
    },
  };
  return proxy;
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}
