/** Why a file that a person named cannot be read. */
import { PulseError } from '../domain/errors.ts';

/** `what` begins the sentence: `The plan /tmp/plan.yaml`. */
export function unreadable(what: string, cause: NodeJS.ErrnoException): PulseError {
  return new PulseError('invalid_input', `${what} cannot be read: ${reasonOf(cause)}.`, {
    hint: 'Name a file that is there. A relative path begins where you are.',
    cause,
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
      return 'you may not read it';
    case 'unsafe_file':
      return message.replace(/\.$/, '');
    default:
      return code ?? message;
  }
}
