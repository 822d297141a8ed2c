import type { PulseEvent } from '../../domain/events.ts';
import type { Pulse } from '../../pulse.ts';
import type { Style } from '../../terminal/style.ts';
import type { Progress, WorkPlan } from './progress.ts';
import type { TeamMember } from './result.ts';

/** How much room a line has. */
export interface Room {
  style: Style;
  columns: number;
}

/** What a loop shows to followers of its sessions; the rest is shown as for any session. */
export interface LoopFollower {
  /** What is to come, as far as that is known now. */
  plan?(pulse: Pulse, sessionId: string): Promise<WorkPlan>;
  /** One of its own events, for a log. `null`: none of its own. */
  eventText?(event: PulseEvent, style: Style): string | null;
  /** The lines an event leaves behind. `null`: those of any session. */
  eventLines?(event: PulseEvent, progress: Progress, room: Room): string[] | null;
  /** What an event says, for a log that has a line for each step. `null`: nothing. */
  logLine?(event: PulseEvent): string | null;
  /** What an event says that is being done. `null`: nothing. */
  activity?(event: PulseEvent): string | null;
  /** What stands below where the session is, read again now and then: what works for it. */
  board?(pulse: Pulse, sessionId: string, room: Room & { nowMs: number }): Promise<string[]>;
  /** The sessions that have worked for it, whose runs its own figures leave out. */
  team?(pulse: Pulse, sessionId: string): Promise<TeamMember[]>;
  /** What is said beside the events, where that has to be read. `null`: nothing. */
  statusLine?(pulse: Pulse, event: PulseEvent): Promise<string | null>;
}
