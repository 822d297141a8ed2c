import type { Stop } from '../../engine/loop.ts';

export function iterationStop(done: number, max: number): Stop | null {
  if (done < max) return null;
  const detail = `${done} of ${max} iterations done without COMPLETE.`;
  return { status: 'blocked', reason: 'iteration_limit', detail };
}
