/** What fits: of a message, of a reservation, and of a list of either. */
export const MOST_RECIPIENTS = 50;
export const MOST_IN_SUBJECT = 500;
export const MOST_IN_BODY = 64 * 1024;
/** Of a thread or a topic. */
export const MOST_IN_LABEL = 200;
export const MOST_IN_AGENT_NAME = 64;
export const MOST_LISTED = 1_000;

export const MOST_PATHS = 50;
export const MOST_IN_PATTERN = 1_024;
export const MOST_IN_REASON = 1_000;
/** One holder cannot make everybody else's requests slow. */
export const MOST_HELD = 200;
export const DEFAULT_TTL_MS = 3_600_000;
export const LONGEST_TTL_MS = 7 * 86_400_000;

export const IMPORTANCES = ['low', 'normal', 'high', 'urgent'] as const;
export type Importance = (typeof IMPORTANCES)[number];
