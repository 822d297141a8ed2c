/** `.pulse/tooling-status.json`: what workers can rely on here, and how many of them should work at once. */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeBelow } from '../../../files/folder.ts';
import { readTextOrNull } from '../../../files/regular-file.ts';
import { packageVersion } from '../../../tools/package-version.ts';
import { TOOLING_FILE } from './places.ts';

export type RecommendedMode = 'swarm' | 'single-worker';

export interface ToolingFound {
  /** Its version; `null`: none. */
  git: string | null;
  /** Whether each worker can have a worktree. */
  worktrees: boolean;
  /** Those that can be started here. */
  agents: readonly string[];
  sandbox: boolean;
}

const MODES = ['swarm', 'single-worker'] as const satisfies RecommendedMode[];
const statusSchema = z.looseObject({
  recommended_mode: z.enum(MODES),
  /** What Pulse recommended when it wrote this. Another `recommended_mode` is a person's. */
  found_mode: z.enum(MODES).optional(),
});

export type ToolingStatus = z.infer<typeof statusSchema>;

const MOST_BYTES = 64 * 1024;

/** `null`: there is none that could be read. */
export async function readToolingStatus(root: string): Promise<ToolingStatus | null> {
  const path = join(await realpath(root), TOOLING_FILE);
  const text = await readTextOrNull(path, { maxBytes: MOST_BYTES, isExact: true });
  try {
    return statusSchema.safeParse(JSON.parse(text ?? 'null')).data ?? null;
  } catch {
    // No JSON: it says nothing.
    return null;
  }
}

/** A mode that a person chose stays, and so do fields that are unknown here. */
export async function writeToolingStatus(
  root: string,
  { at, found }: { at: string; found: ToolingFound },
): Promise<void> {
  const present = await readToolingStatus(root);
  const isChosen = present !== null && present.recommended_mode !== present.found_mode;
  const mode: RecommendedMode = found.worktrees ? 'swarm' : 'single-worker';
  const status = {
    ...present,
    schema_version: '1.0',
    recommended_mode: isChosen ? present.recommended_mode : mode,
    found_mode: mode,
    found: { git: found.git, worktrees: found.worktrees, agents: found.agents, sandbox: found.sandbox },
    pulse_version: packageVersion(),
    written_at: at,
  };
  await writeBelow(root, join(root, TOOLING_FILE), `${JSON.stringify(status, null, 2)}\n`);
}
