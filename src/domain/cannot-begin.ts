/** Why a session cannot begin, in words: its setup failed, or one of its checks cannot even be started. */
import type { AttemptSpec, VerificationRecord } from './attempt.ts';

export interface CannotBegin {
  /** The option of `pulse resume` that mends it, and the setting. */
  mendedBy: 'setup' | 'verify';
  /** One line. */
  text: string;
}

export function cannotBegin(
  { verify, setup }: Pick<AttemptSpec, 'verify' | 'setup'>,
  { command, exit }: Pick<VerificationRecord, 'command' | 'exit'>,
): CannotBegin {
  // Setup runs first: what both have failed there.
  const isCheck = verify.includes(command) && !setup?.includes(command);
  if (!isCheck) return { mendedBy: 'setup', text: `Setup failed: ${command} (exit ${exit ?? 'none'}).` };
  return { mendedBy: 'verify', text: `The check ${command} cannot be run (exit ${exit ?? 'none'}).` };
}
