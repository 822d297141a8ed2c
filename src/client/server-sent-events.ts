/** Server-sent events of an answer, read with `fetch`: unlike `EventSource` it can show a key. */
export interface ServerSentEvent<T> {
  id: string;
  /** `undefined`: a message without a name. */
  event: string | undefined;
  data: T;
}

/** Ends with the answer. Leaving the loop cancels it. */
export async function* readEvents<T>(answer: Response): AsyncGenerator<ServerSentEvent<T>> {
  if (!answer.body) return;
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const message = parseBlock<T>(block);
        if (message) yield message;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** `null`: a comment, which says that the server is there. */
function parseBlock<T>(block: string): ServerSentEvent<T> | null {
  const lines = block.split('\n');
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const [id, data] = [field('id'), field('data')];
  return id === undefined || data === undefined
    ? null
    : { id, event: field('event'), data: JSON.parse(data) as T };
}
