/** What the starts of all loops have in common over HTTP. */
import type { z } from '@hono/zod-openapi';
import type { startFields } from './schemas.ts';

type SharedBody = z.output<z.ZodObject<typeof startFields>>;

/** As Pulse takes it. Beyond what every start has it is the loop's own, and left as it is. */
export function startWords<T extends SharedBody>(body: T) {
  const { projectPath: path, timeLimit, iterationTimeout, idleTimeout, ...same } = body;
  return {
    ...same,
    path,
    createdBy: 'api' as const,
    timeLimitMs: timeLimit,
    iterationTimeoutMs: iterationTimeout,
    idleTimeoutMs: idleTimeout,
  };
}
