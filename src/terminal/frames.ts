/** So many pictures a second at most, however many reasons there are to draw one. */

/** More are seen by nobody, and fill a slow line. */
const MOST_FRAMES_A_SECOND = 8;
const FRAME_MS = 1_000 / MOST_FRAMES_A_SECOND;

export interface Frames extends Disposable {
  /** Something has changed: it is drawn at once, or with all that changes until the next frame. */
  ask(): void;
  /** What was asked for and not drawn yet is drawn now. */
  flush(): void;
}

/** `draw` shows what is true when it is called. Disposing forgets what was asked for. */
export function limitFrames(draw: () => void, nowMs: () => number = () => performance.now()): Frames {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function now(): void {
    clearTimeout(timer);
    timer = undefined;
    drawnAt = nowMs();
    draw();
  }

  return {
    ask() {
      if (timer !== undefined) return;
      const leftMs = drawnAt + FRAME_MS - nowMs();
      if (leftMs <= 0) now();
      else timer = setTimeout(now, leftMs);
    },
    flush() {
      if (timer !== undefined) now();
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
