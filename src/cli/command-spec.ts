/** The words of the command table: what a command is, before anything of it is loaded. */

import type { ReadyRunner } from '../process/ready-runner.ts';
import type { PulseOptions } from '../pulse.ts';
import type { Output } from './output.ts';
import type { Input } from './parser.ts';

/** `usd`: a positive number, or `none` for no limit. `duration`: `90s`, `10m`, `2h`. */
export type ValueKind = 'text' | 'integer' | 'usd' | 'duration';

export interface OptionSpec {
  name: string;
  /** What its value is; without it the option is a switch. */
  value?: ValueKind;
  /** How help shows the value: `N`, `CMD`. */
  placeholder?: string;
  choices?: readonly string[];
  /** Of a whole number or a duration (1). */
  least?: 0;
  isRepeated?: boolean;
  help: string;
}

export interface ArgumentSpec {
  name: string;
  isOptional?: boolean;
  /** Of the last one: all words that are left. */
  isRepeated?: boolean;
  choices?: readonly string[];
  /** Whether it names a session, which may depend on what else was given. */
  isSession?: (input: Input) => boolean;
  help: string;
}

export interface CommandSpec {
  name: string;
  group: 'Run' | 'Look' | 'Steer' | 'Finish' | 'Coordinate' | 'Account' | 'Set up' | 'For agents';
  summary: string;
  /** A paragraph or two for `pulse help NAME`. */
  details?: string;
  arguments?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  examples?: readonly string[];
  /** Left out of help and completion: machinery. */
  isHidden?: boolean;
  /** Refused inside an agent's run. */
  isPersonOnly?: boolean;
  load(): Promise<CommandModule>;
}

export interface CommandModule {
  /** Resolves to the exit code; throws PulseError. */
  run(context: CommandContext): Promise<number>;
}

export interface CommandContext {
  input: Input;
  output: Output;
  environment: NodeJS.ProcessEnv;
  cwd: string;
  /** The path of bin/pulse.js, to start more of Pulse's own processes. */
  program: string;
  /** A runner that starts already. */
  runner?: ReadyRunner;
  /** What every Pulse is opened with: loops and operations beside those of Pulse. */
  pulse?: MorePulse;
}

export type MorePulse = Pick<PulseOptions, 'loops' | 'operations'>;
