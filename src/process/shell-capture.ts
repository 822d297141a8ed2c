/**
 * Short, trusted programs (git) started by a small shell that stays beside Pulse. Starting a process costs a copy of
 * the starter's page tables: from a shell about 1 ms, from a grown Node process 3 to 8.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { quoteWord } from '../domain/shell-words.ts';
import { type CaptureCall, type Captured, capture, ProgramStopped, watchStop } from './capture.ts';
import { noteLeisure } from './prewarmed-shell.ts';

export interface ShellCapture extends Disposable {
  /** As `capture`. Calls that come while the shell is busy, or that it cannot take, are started directly. */
  capture(call: CaptureCall): Promise<Captured>;
}

type Shell = ChildProcessByStdio<Writable, Readable, Readable>;

interface Turn {
  stdout: Reading;
  stderr: Reading;
  settle(): void;
  fail(error: Error): void;
}

/** The shell starts with the first call and ends with Pulse: its input is a pipe that only Pulse holds. */
export function createShellCapture(): ShellCapture {
  let shell: Shell | null = null;
  let base: Record<string, string> = {};
  let turn: Turn | null = null;
  let isClosed = false;

  function start(env: Record<string, string>): Shell {
    // A group of its own: a call that must stop takes the shell with it, and the next one starts another.
    const child = spawn('/bin/sh', [], { cwd: '/', env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    base = env;
    child.stdout.on('data', (chunk: Buffer) => turn?.stdout.take(chunk) && turn.settle());
    child.stderr.on('data', (chunk: Buffer) => turn?.stderr.take(chunk) && turn.settle());
    child.stdin.on('error', () => child.kill());
    const gone = (): void => {
      if (shell === child) shell = null;
      turn?.fail(new Error('the shell that starts programs is gone'));
    };
    child.once('exit', gone);
    child.once('error', gone);
    // It must not keep Pulse alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr])
      (stream as unknown as { unref(): void }).unref();
    return child;
  }

  async function run(call: CaptureCall): Promise<Captured> {
    if (call.signal?.aborted) throw new ProgramStopped('aborted');
    shell ??= start(call.env ?? {});
    const { stdin, pid } = shell;
    const marker = Buffer.from(`\n${randomBytes(16).toString('hex')} `);
    const done = Promise.withResolvers<void>();
    const stdout = createReading(marker);
    const stderr = createReading(marker);
    turn = {
      stdout,
      stderr,
      settle: () => stdout.code !== null && stderr.code !== null && done.resolve(),
      fail: done.reject,
    };
    const keepAlive = setInterval(() => undefined, 60_000);
    using stopping = watchStop(call, () => pid);
    try {
      stdin.write(script(call, { base, marker: marker.toString().trim() }));
      noteLeisure();
      await done.promise;
      return { code: stdout.code ?? 1, stdout: stdout.content(), stderr: stderr.content().toString() };
    } catch (error) {
      throw stopping.isStopped ? await stopping.over : error;
    } finally {
      clearInterval(keepAlive);
      turn = null;
    }
  }

  return {
    capture: (call) => (turn || isClosed || !isSuitable(call) ? capture(call) : run(call)),
    [Symbol.dispose]() {
      isClosed = true;
      shell?.stdin.end();
    },
  };
}

/** A here-document holds text lines; anything else is given by a direct start. */
function isSuitable({ args, env, stdin, next = [] }: CaptureCall): boolean {
  if (typeof stdin === 'object' || (stdin !== undefined && !/^[^\0]*\n$/.test(stdin))) return false;
  const names = Object.keys(env ?? {});
  return (
    ![...args, ...next].some((arg) => arg.includes('\0')) &&
    names.every((name) => /^[A-Za-z_]\w*$/.test(name))
  );
}

function script(
  { file, args, cwd, env = {}, stdin, next }: CaptureCall,
  { base, marker }: { base: Record<string, string>; marker: string },
): string {
  const changes = [
    ...Object.keys(base).flatMap((name) => (name in env ? [] : [`unset ${name}`])),
    ...Object.entries(env).flatMap(([name, value]) =>
      base[name] === value ? [] : [`export ${name}=${quoteWord(value)}`],
    ),
  ];
  const call = (words: readonly string[]): string => [file, ...words].map(quoteWord).join(' ');
  const [input, text] = stdin === undefined ? ['</dev/null', ''] : [`<<'${marker}'`, `\n${stdin}${marker}`];
  const runs =
    next === undefined
      ? [`exec ${call(args)} ${input}${text}`]
      : [`${call(args)} ${input} || exit${text}`, `exec ${call(next)} </dev/null`];
  const body = [`cd ${quoteWord(cwd)} || exit 128`, ...changes, ...runs].join('\n');
  return `(\n${body}\n)\ncode=$?; printf '\\n${marker} %s\\n' "$code"; printf '\\n${marker} %s\\n' "$code" >&2\n`;
}

interface Reading {
  /** `true` once the mark has been read. */
  take(chunk: Buffer): boolean;
  code: number | null;
  content(): Buffer;
}

/** Collects a stream up to its mark, `\n<random> <exit code>\n`, which may come in pieces. */
function createReading(marker: Buffer): Reading {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let tail: Buffer = Buffer.alloc(0);
  const reading: Reading = {
    code: null,
    take(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      const seen = Buffer.concat([tail, chunk]);
      const at = seen.indexOf(marker);
      const line = at === -1 ? -1 : seen.indexOf(0x0a, at + marker.length);
      // Enough of the end that neither the mark nor the code behind it can be cut off.
      tail = at === -1 ? seen.subarray(-(marker.length + 8)) : seen.subarray(at);
      if (line === -1) return false;
      reading.code = Number(seen.toString('latin1', at + marker.length, line));
      bytes -= seen.length - at;
      return true;
    },
    content: () => Buffer.concat(chunks).subarray(0, bytes),
  };
  return reading;
}
