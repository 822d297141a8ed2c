import type { Config } from '../config.ts';
import type { SandboxWish } from '../domain/attempt.ts';
import { PulseError } from '../domain/errors.ts';
import { sandboxState } from '../process/sandbox-state.ts';

export interface ChosenSandbox {
  /** What the session's attempts ask for; `null`: none. */
  wish: SandboxWish | null;
  /** Why there is none, where there would be one if it could. */
  refused: string | null;
  /** What holds less here than elsewhere. */
  note?: string;
}

interface Choice {
  /** `--sandbox`. */
  wanted: string | undefined;
  config: Config;
  environment: NodeJS.ProcessEnv;
}

/**
 * Settles what the session has, so that what was said at its start holds for all its runs. Attempts of a fleet run on
 * other hosts: there `auto` is settled by each host. Throws `sandbox_unavailable` where one is asked for and cannot be.
 */
export async function chooseSandbox({ wanted, config, environment }: Choice): Promise<ChosenSandbox> {
  const { sandbox, sandboxRead, sandboxWrite, labels } = config.values;
  const mode = wanted ?? (sandbox as string);
  if (mode !== 'on' && mode !== 'auto') return { wish: null, refused: null };
  const paths = { read: [...sandboxRead], write: [...sandboxWrite] };
  if (labels.length > 0) return { wish: { mode, ...paths }, refused: null };
  const state = await sandboxState(environment.PATH);
  if (state.works) {
    const note = state.note === null ? {} : { note: state.note };
    return { wish: { mode: 'on', ...paths }, refused: null, ...note };
  }
  if (mode === 'auto') return { wish: null, refused: state.message };
  throw new PulseError('sandbox_unavailable', `The sandbox cannot be used: ${state.message}`, {
    hint: `${state.hint} Or start without it: --sandbox off`,
  });
}
