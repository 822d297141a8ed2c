/** Messages of the live stream as they come. */
export interface LiveEvent {
  id: string;
  event: string | undefined;
  // The tests say what they expect of it.
  // biome-ignore lint/suspicious/noExplicitAny: parsed
  data: any;
}

export class LiveReader {
  comments = 0;
  readonly messages: LiveEvent[] = [];
  readonly contentType: string | null;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(answer: Response) {
    this.contentType = answer.headers.get('content-type');
    this.#reader = answer.body!.getReader();
  }

  /** The first message after which this holds. Throws where the stream ends before. */
  async until(holds: (message: LiveEvent) => boolean): Promise<LiveEvent> {
    for (;;) {
      const message = await this.next();
      if (message === null) throw new Error('the stream ended');
      if (holds(message)) return message;
    }
  }

  async toEnd(): Promise<void> {
    for (let message = await this.next(); message; ) message = await this.next();
  }

  /** The numbers of a session's events, in the order in which they came. */
  events(sessionId: string): number[] {
    return this.messages
      .filter(({ event, data }) => event === undefined && data.sessionId === sessionId)
      .map(({ data }) => data.seq);
  }

  async next(): Promise<LiveEvent | null> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end === -1) {
        const { done, value } = await this.#reader.read();
        if (done) return null;
        this.#rest += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const lines = this.#rest.slice(0, end).split('\n');
      this.#rest = this.#rest.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const [id, data] = [field('id'), field('data')];
      if (id === undefined || data === undefined) {
        this.comments += 1;
        continue;
      }
      const message = { id, event: field('event'), data: JSON.parse(data) };
      this.messages.push(message);
      return message;
    }
  }

  drop(): Promise<void> {
    return this.#reader.cancel();
  }
}
