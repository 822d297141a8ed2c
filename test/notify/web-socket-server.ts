/** A WebSocket server in few lines (RFC 6455): text messages, pings and closes, no extensions. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

export interface Peer {
  /** Of the request that opened it. */
  url: string;
  send(message: unknown): void;
  /** As it is, JSON or not. */
  sendText(text: string): void;
  close(code: number): void;
  ping(): void;
  /** Without a word. */
  drop(): void;
}

export interface PeerEvents {
  onOpen(peer: Peer): void;
  onMessage(peer: Peer, message: Record<string, unknown>): void;
  onClose?(peer: Peer): void;
}

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const [TEXT, CLOSE, PING, PONG] = [1, 8, 9, 10];

export function acceptSockets(server: Server, { onOpen, onMessage, onClose }: PeerEvents): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${MAGIC}`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const write = (op: number, payload: Buffer): void =>
      void (socket.writable && socket.write(frame(op, payload)));
    const peer: Peer = {
      url: request.url!,
      send: (message) => write(TEXT, Buffer.from(JSON.stringify(message))),
      sendText: (text) => write(TEXT, Buffer.from(text)),
      close(code) {
        const payload = Buffer.alloc(2);
        payload.writeUInt16BE(code);
        write(CLOSE, payload);
      },
      ping: () => write(PING, Buffer.alloc(0)),
      drop: () => void socket.destroy(),
    };
    let rest = Buffer.alloc(0);
    socket.on('data', (part: Buffer) => {
      rest = Buffer.concat([rest, part]);
      for (let read = readFrame(rest); read; read = readFrame(rest)) {
        rest = rest.subarray(read.size);
        if (read.op === TEXT) onMessage(peer, JSON.parse(read.payload.toString('utf8')));
        if (read.op === PING) write(PONG, read.payload);
        if (read.op === CLOSE) {
          write(CLOSE, read.payload);
          socket.end();
        }
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => onClose?.(peer));
    onOpen(peer);
  });
}

function frame(op: number, payload: Buffer): Buffer {
  const size = payload.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = 0x80 | op;
  head[1] = size < 126 ? size : size < 65_536 ? 126 : 127;
  if (head[1] === 126) head.writeUInt16BE(size, 2);
  if (head[1] === 127) head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, payload]);
}

/** `null`: it has not come whole yet. */
function readFrame(bytes: Buffer): { op: number; payload: Buffer; size: number } | null {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 0x7f;
  const head = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < head + 4) return null;
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const size = head + 4 + length;
  if (bytes.length < size) return null;
  const mask = bytes.subarray(head, head + 4);
  const payload = Buffer.from(bytes.subarray(head + 4, size).map((byte, at) => byte ^ mask[at % 4]!));
  return { op: bytes[0]! & 0x0f, payload, size };
}
