/** What SQLite says, in words a person can act on. */
import { type ErrorCode, PulseError } from '../domain/errors.ts';

const PRIMARY = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  NOTADB: 26,
};

const MEANINGS: Record<number, { code: ErrorCode; message: string; hint: string; retryable?: boolean }> = {
  [PRIMARY.BUSY]: {
    code: 'store_busy',
    message: 'Another process holds the database.',
    hint: 'Try again in a moment; `pulse doctor` shows which process is writing.',
    retryable: true,
  },
  [PRIMARY.READONLY]: {
    code: 'store_read_only',
    message: 'The database cannot be written: it or its folder is read-only.',
    hint: 'Make the state directory writable, or set PULSE_HOME to one that is.',
    retryable: true,
  },
  [PRIMARY.IOERR]: {
    code: 'store_unavailable',
    message: 'The disk reported an error while the database was used.',
    hint: 'Check the disk and its free space; nothing that was committed is lost.',
    retryable: true,
  },
  [PRIMARY.CORRUPT]: {
    code: 'store_corrupt',
    message: 'The database is damaged.',
    hint: 'Nothing was changed. Move pulse.db aside (keep it) and restore a copy; branches and refs in git are safe.',
  },
  [PRIMARY.FULL]: {
    code: 'disk_full',
    message: 'The disk is full: the last change was not stored.',
    hint: 'Free some space and run the command again; what was committed before is safe.',
    retryable: true,
  },
  [PRIMARY.CANTOPEN]: {
    code: 'store_unavailable',
    message: 'The database file cannot be opened.',
    hint: 'Check that the state directory exists and that you may write to it (PULSE_HOME).',
    retryable: true,
  },
  [PRIMARY.NOTADB]: {
    code: 'store_corrupt',
    message: 'The database file is not a database.',
    hint: 'Nothing was changed. Move pulse.db aside (keep it) and start again; branches and refs in git are safe.',
  },
};
MEANINGS[PRIMARY.LOCKED] = MEANINGS[PRIMARY.BUSY]!;

export function isBusy(error: unknown): boolean {
  if (error instanceof PulseError) return error.code === 'store_busy';
  const code = primaryCode(error);
  return code === PRIMARY.BUSY || code === PRIMARY.LOCKED;
}

/** Errors of SQLite become PulseErrors; a broken constraint stays as it is, for the caller to recognise. */
export function storeError(error: unknown): unknown {
  const meaning = MEANINGS[primaryCode(error)];
  if (!meaning) return error;
  const { code, message, hint, retryable } = meaning;
  return new PulseError(code, message, { hint, retryable, cause: error });
}

export function isUniqueViolation(error: unknown): boolean {
  const extended = (error as { errcode?: unknown } | null)?.errcode;
  return extended === 2067 || extended === 1555;
}

function primaryCode(error: unknown): number {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : -1;
}
