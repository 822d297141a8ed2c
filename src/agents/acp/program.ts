/** The program at the other end, as the SDK's stream. */
import { type AnyMessage, ndJsonStream, type Stream } from '@agentclientprotocol/sdk';
import { openDialogue } from '../../process/dialogue.ts';

export interface AcpProgram {
  stream: Stream;
  /** What it wrote to stderr last and its exit code, once it has ended. */
  ended: Promise<{ code: number; stderr: string }>;
}

const SHELL = '/bin/sh';

/** The caller need not close it: its input closes when this process ends. */
export function startProgram({ command, cwd }: { command: string; cwd: string }): AcpProgram {
  const ended = Promise.withResolvers<{ code: number; stderr: string }>();
  let output: ReadableStreamDefaultController<Uint8Array> | null = null;
  const readable = new ReadableStream<Uint8Array>({
    start(controller) {
      output = controller;
    },
    cancel() {
      output = null;
    },
  });
  const dialogue = openDialogue(
    { file: SHELL, args: ['-c', '--', command], cwd },
    {
      said: (chunk) => output?.enqueue(chunk),
      ended(end) {
        output?.close();
        output = null;
        ended.resolve(end);
      },
    },
  );
  const decoder = new TextDecoder();
  const writable = new WritableStream<Uint8Array>({
    write: (chunk) => dialogue.write(decoder.decode(chunk, { stream: true })),
  });
  const stream: { writable: WritableStream<AnyMessage>; readable: ReadableStream<AnyMessage> } = ndJsonStream(
    writable,
    readable,
  );
  return { stream, ended: ended.promise };
}
