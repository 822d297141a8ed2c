/** What is known of a program that checks start. */
import type { Call } from '../calls.ts';
import type { Findings } from '../findings.ts';
import type { Arguments } from '../named-files.ts';

export interface Follow {
  findings: Findings;
  /** Another command that the check consists of. */
  run(script: string, folder: string): Promise<void>;
  /** A file of the repository that is run; a shell script is followed too. */
  file(path: string, folder: string): Promise<void>;
  /** Whether a program of this name is known. */
  knows(name: string): boolean;
}

export interface Tool {
  args: Arguments;
  follow(call: Call, follow: Follow): void | Promise<void>;
}
