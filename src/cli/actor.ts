import { userInfo } from 'node:os';

/** Who asks, as events record it. */
export function actor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a user id without an entry, as in some containers
  }
}
