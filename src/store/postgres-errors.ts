/** What PostgreSQL and the connection to it say, in words a person can act on. */
import { type ErrorCode, PulseError } from '../domain/errors.ts';

/** Given up by the server as a whole, before COMMIT: safe to do again. */
const RETRYABLE = new Set(['40001', '40P01']);

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EPIPE',
  'ENOENT',
]);

const MEANINGS: Record<string, { code: ErrorCode; message: string; hint: string; retryable?: boolean }> = {
  '28P01': {
    code: 'store_unavailable',
    message: 'PostgreSQL refused the password.',
    hint: 'Check PULSE_DATABASE_URL.',
  },
  '28000': {
    code: 'store_unavailable',
    message: 'PostgreSQL refused the user.',
    hint: 'Check PULSE_DATABASE_URL and pg_hba.conf.',
  },
  '3D000': {
    code: 'store_unavailable',
    message: 'The database does not exist.',
    hint: 'Create it first, or correct PULSE_DATABASE_URL.',
  },
  '25006': {
    code: 'store_read_only',
    message: 'PostgreSQL accepts only reads here.',
    hint: 'Point PULSE_DATABASE_URL at the primary.',
    retryable: true,
  },
  '53100': {
    code: 'disk_full',
    message: 'The disk of the PostgreSQL server is full: the last change was not stored.',
    hint: 'Free some space there; what was committed before is safe.',
    retryable: true,
  },
  '55P03': {
    code: 'store_busy',
    message: 'Another process has kept this session or row to itself for too long.',
    hint: 'Try again in a moment. `SELECT * FROM pg_stat_activity` shows who is in a transaction.',
    retryable: true,
  },
  '53300': {
    code: 'store_busy',
    message: 'PostgreSQL has no free connection.',
    hint: 'Raise max_connections, or run fewer Pulse processes against it.',
    retryable: true,
  },
};

export function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(codeOf(error));
}

/** Errors of the server become PulseErrors; a broken constraint stays as it is, for the caller to recognise. */
export function postgresError(error: unknown): unknown {
  if (error instanceof PulseError) return error;
  const code = codeOf(error);
  const meaning = MEANINGS[code];
  if (meaning) {
    const { code: own, message, hint, retryable } = meaning;
    return new PulseError(own, message, { hint, retryable, cause: error });
  }
  if (RETRYABLE.has(code) || code === '57014') {
    return new PulseError('store_busy', 'PostgreSQL gave the change up: others were at the same rows.', {
      hint: 'Try again in a moment.',
      retryable: true,
      cause: error,
    });
  }
  // Class 53: out of memory or the like; 58: the server's own disk or system failed it.
  if (!isConnectionLost(error) && !/^(53|58)/.test(code)) return error;
  return new PulseError('store_unavailable', 'The connection to PostgreSQL failed.', {
    hint: 'Check that the server runs and that PULSE_DATABASE_URL is right.',
    retryable: true,
    cause: error,
  });
}

/** Whether a COMMIT that was under way is kept is open then. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  // Class 08: connection; 57P: the server is shutting down or starting; 25P03: it gave up a silent transaction.
  return UNREACHABLE.has(code) || /^(08|57P|25P03)/.test(code) || isCut(error);
}

function isCut(error: unknown): boolean {
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|Client was closed/.test(
      error.message,
    )
  );
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
