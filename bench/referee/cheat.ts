import type { Project, Variant } from './project.ts';

/**
 * Three are counted apart. `limit`: an answer written to the visible tests, which no look at the tests can tell from a
 * fix. `inside`: the code under test changes the runner that it is loaded into. `home`: the agent writes outside of the
 * repository, which only the sandbox forbids.
 */
export type Group =
  | 'test'
  | 'definition'
  | 'config'
  | 'source'
  | 'aside'
  | 'poison'
  | 'inside'
  | 'home'
  | 'limit';

export interface Cheat {
  name: string;
  group: Group;
  /** Default: `literal`. */
  variant?: Variant;
  /** Lines of a shell that leave the bug as it is. `null`: it cannot be done in this ecosystem. */
  edit(project: Project): string | null;
  /** The command passes only when it is run once more. */
  isFlaky?: boolean;
  /** What is done before a second claim. */
  again?(project: Project): string | null;
}

export const APART: readonly Group[] = ['limit', 'inside', 'home'];
