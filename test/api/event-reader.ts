import type { PulseEvent } from '../../src/domain/events.ts';

export interface SseMessage {
  id: number;
  event: PulseEvent;
}

/** Whole messages of an event stream as they come; comments are counted. Returning from the loop cancels it. */
export class EventReader {
  comments = 0;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** `null` at the end. */
  async next(): Promise<SseMessage | null> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end === -1) {
        const { done, value } = await this.#reader.read();
        if (done) return null;
        this.#rest += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const block = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      const message = parse(block);
      if (message) return message;
      this.comments += 1;
    }
  }

  async all(): Promise<SseMessage[]> {
    const messages: SseMessage[] = [];
    for (let message = await this.next(); message; message = await this.next()) messages.push(message);
    return messages;
  }

  drop(): Promise<void> {
    return this.#reader.cancel();
  }
}

function parse(block: string): SseMessage | null {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const [id, data] = [field('id'), field('data')];
  return id === undefined || data === undefined ? null : { id: Number(id), event: JSON.parse(data) };
}
