/** The beginning and the end of an output of any length: errors stand at either. */
import { StringDecoder } from 'node:string_decoder';

export class HeadAndTail {
  #head: Buffer[] = [];
  #tail: Buffer[] = [];
  #headRoom: number;
  #tailLength = 0;
  #dropped = 0;
  readonly #tailMax: number;

  constructor(maxBytes: number) {
    this.#headRoom = Math.floor(maxBytes / 2);
    this.#tailMax = maxBytes - this.#headRoom;
  }

  push(chunk: Buffer): void {
    const first = chunk.subarray(0, this.#headRoom);
    if (first.length > 0) this.#head.push(first);
    this.#headRoom -= first.length;
    const rest = chunk.subarray(first.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    // Cut only at twice the size, so that many small chunks are not copied again and again.
    if (this.#tailLength > 2 * this.#tailMax) this.#cut();
  }

  text(): string {
    this.#cut();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#dropped === 0) return Buffer.concat([head, tail]).toString();
    // The decoder leaves out a character that the cut went through.
    return `${new StringDecoder().write(head)}\n[… ${this.#dropped} bytes left out …]\n${wholeStart(tail).toString()}`;
  }

  #cut(): void {
    const excess = this.#tailLength - this.#tailMax;
    if (excess <= 0) return;
    this.#tail = [Buffer.from(Buffer.concat(this.#tail).subarray(excess))];
    this.#tailLength = this.#tailMax;
    this.#dropped += excess;
  }
}

function wholeStart(bytes: Buffer): Buffer {
  let from = 0;
  while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.subarray(from);
}
