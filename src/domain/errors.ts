/** Every error a person can meet: a code from this closed table, a message, and a hint on what to do. */
export const ERROR_CODES = {
  usage: { exit: 2, http: 400 },
  invalid_input: { exit: 2, http: 422 },
  not_a_repository: { exit: 2, http: 422 },
  no_commits: { exit: 2, http: 422 },
  branch_exists: { exit: 2, http: 409 },
  unknown_base: { exit: 2, http: 422 },
  path_outside: { exit: 2, http: 422 },
  too_large: { exit: 2, http: 413 },
  unsafe_file: { exit: 2, http: 422 },
  not_found: { exit: 2, http: 404 },
  ambiguous_id: { exit: 2, http: 409 },
  agent_unavailable: { exit: 2, http: 422 },
  sandbox_unavailable: { exit: 2, http: 422 },
  invalid_config: { exit: 2, http: 422 },
  untrusted_config: { exit: 2, http: 409 },
  invalid_plan: { exit: 2, http: 422 },
  merge_conflict: { exit: 2, http: 409 },
  invalid_transition: { exit: 2, http: 409 },
  limit_not_raised: { exit: 2, http: 409 },
  wrong_command: { exit: 2, http: 409 },
  inside_run: { exit: 2, http: 403 },
  unauthorized: { exit: 2, http: 401 },
  forbidden: { exit: 2, http: 403 },
  rate_limited: { exit: 2, http: 429 },
  key_reused: { exit: 2, http: 409 },
  already_serving: { exit: 2, http: 409 },
  port_unavailable: { exit: 2, http: 503 },
  tool_failed: { exit: 1, http: 422 },
  unknown_tool: { exit: 2, http: 404 },
  store_busy: { exit: 1, http: 503 },
  store_unavailable: { exit: 1, http: 503 },
  store_read_only: { exit: 1, http: 503 },
  disk_full: { exit: 1, http: 503 },
  store_corrupt: { exit: 1, http: 503 },
  store_newer: { exit: 1, http: 503 },
  store_too_old_sqlite: { exit: 1, http: 503 },
  network_disk: { exit: 1, http: 503 },
  fenced: { exit: 1, http: 409 },
  ref_moved: { exit: 1, http: 409 },
  git_failed: { exit: 1, http: 500 },
  git_stopped: { exit: 1, http: 503 },
  internal_error: { exit: 1, http: 500 },
} as const satisfies Record<string, { exit: number; http: number }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetails {
  hint?: string;
  cause?: unknown;
  retryable?: boolean;
  data?: Record<string, unknown>;
}

export class PulseError extends Error {
  override readonly name = 'PulseError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly data: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.retryable = details.retryable ?? false;
    this.data = details.data ?? {};
  }

  get exitCode(): number {
    return ERROR_CODES[this.code].exit;
  }

  toJSON(): { code: ErrorCode; message: string; hint: string | null; details: Record<string, unknown> } {
    return { code: this.code, message: this.message, hint: this.hint ?? null, details: this.data };
  }
}

export function isPulseError(error: unknown, code?: ErrorCode): error is PulseError {
  return error instanceof PulseError && (code === undefined || error.code === code);
}

/** Turns anything that was thrown into a PulseError; an unexpected error keeps its message as `internal_error`. */
export function asPulseError(error: unknown): PulseError {
  if (error instanceof PulseError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PulseError('internal_error', message, { cause: error });
}

/**
 * The database is away or does not take anything for now: nothing was changed, and the same call may succeed later.
 * `store_busy` of an impatient call is an answer, not an absence.
 */
export function isStoreAway(error: unknown): error is PulseError {
  return isPulseError(error) && error.retryable && AWAY_CODES.has(error.code);
}

const AWAY_CODES: ReadonlySet<string> = new Set([
  'store_unavailable',
  'store_busy',
  'store_read_only',
  'disk_full',
]);
