/** Far more than the longest answer. Without a limit an endless answer would fill the memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** `fetch`, but an answer that is too long fails with an error. */
export function boundedFetch(maxBytes = MAX_ANSWER_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    let left = maxBytes;
    const bound = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength;
        if (left < 0) controller.error(new Error('The answer of the server does not end.'));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bound), { status, statusText, headers });
  };
}
