/** Follows a session to its end, or to where the person leaves it. */
import { constants } from 'node:os';
import { servingAt } from '../../api/serve-lock.ts';
import { isPulseError, isStoreAway, type PulseError } from '../../domain/errors.ts';
import { EXIT_CODES } from '../../domain/status.ts';
import { followerFor } from '../../loops/followers.ts';
import type { FollowOptions } from '../../operations/view.ts';
import type { Pulse } from '../../pulse.ts';
import type { Session } from '../../store/sessions.ts';
import { keptRefs } from '../kept-refs.ts';
import type { Output } from '../output.ts';
import { runnerLog } from '../session-runner.ts';
import { openFollowKeys } from './follow-keys.ts';
import { INTERRUPT_ANSWERS, type InterruptSignal, onInterrupt, readInterruptAnswer } from './interrupts.ts';
import { resultBlock } from './result.ts';
import { createView, type View } from './view.ts';

/** A crashed runner is back within 2 s; one that stays away for this long does not come back by itself. */
const RUNNER_GONE_MS = 10_000;
/** As often a runner says that it lives. */
const HEARTBEAT_MS = 15_000;
/** How long an interrupted command waits for the session to be paused. */
const PAUSE_WAIT_MS = 15_000;

export interface Follow {
  pulse: Pulse;
  session: Session;
  output: Output;
  cwd: string;
  /** Tells only what comes after this event. */
  after?: number;
  /** `watch`: an interruption only ends the watching. */
  isWatching?: boolean;
  /** Ends with how it stands, without where everything is. */
  isBrief?: boolean;
  /** Ends the following, as a person who leaves does. */
  signal?: AbortSignal;
  /** Gives the session its runner; done here so that an interruption finds somebody listening from then on. */
  launch?: () => Promise<void>;
}

/** Resolves to the exit code: the session's own, 128 + n when interrupted, 1 when it has lost its runner for good. */
export async function followSession(follow: Follow): Promise<number> {
  const { pulse, session, output, cwd, after, isBrief, signal } = follow;
  const leaving = new AbortController();
  const leave = (): void => leaving.abort('detached');
  signal?.addEventListener('abort', leave);
  const follower = followerFor(session.kind);
  const plan = await follower.plan?.(pulse, session.id);
  const served = servingAt(pulse.home.serveLock);
  const view = createView(output, session, {
    hasHead: !(isBrief && after),
    interrupt: isAtTerminal(output) ? (follow.isWatching ? 'leaves' : 'asks') : undefined,
    page: served === null ? undefined : `${served}/s/${session.id}`,
    plan,
  });
  const steering = steer(follow, { view, leaving });
  const runner = watchRunner(pulse, session.id);
  try {
    await follow.launch?.();
    const board = boardReader(follow, view);
    const onQuiet: FollowOptions['onQuiet'] = async (now, request) => {
      view.session(now, request);
      await board();
      return runner.isGone();
    };
    let isAway = false;
    const onAway = ({ message }: PulseError): void => {
      if (!isAway) view.say(`The store is away: ${message} The session continues, and so does this view.`);
      isAway = true;
    };
    const options = { after, signal: leaving.signal, onQuiet, onAway };
    for await (const event of pulse.follow(session.id, options)) {
      isAway = false;
      view.event(event);
      await board();
      const status = output.isJson ? null : await follower.statusLine?.(pulse, event);
      if (status) view.say(status);
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    view.close();
    steering[Symbol.dispose]();
  }
  await steering.asked();
  const { interrupted } = steering;
  const { session: last, unresolved, unreadNotes } = await pulse.show(session.id);
  const kept = output.isJson ? [] : await keptRefs(last, process.env);
  const isStopped = last.status !== 'running' && last.status !== 'pending';
  if (!isStopped && !interrupted && leaving.signal.aborted) return detached(follow, last);
  if (!isStopped && !interrupted) printGone(follow);
  if (output.isJson) output.json({ type: 'session.ended', session: last });
  else if (isStopped) {
    const team = await follower.team?.(pulse, last.id);
    const { style } = output.stdout;
    output.data(`\n${resultBlock(last, { style, cwd, isBrief, unresolved, kept, team, unreadNotes })}`);
  }
  if (interrupted) return 128 + constants.signals[interrupted];
  return isStopped ? EXIT_CODES[last.status] : 1;
}

/** Many events come at once: the store is not read for each of them. */
const BOARD_MS = 500;

/** Has the board read again, unless that was just done. */
function boardReader({ pulse, session }: Follow, view: View): () => Promise<void> {
  const { board: read } = followerFor(session.kind);
  let readAt = 0;
  return async () => {
    const now = Date.now();
    if (!read || !view.board || now - readAt < BOARD_MS) return;
    readAt = now;
    // Of a store that is away the following itself tells.
    await view.board((room) => read(pulse, session.id, room)).catch(unlessAway);
  };
}

function unlessAway(error: unknown): void {
  if (!isStoreAway(error)) throw error;
}

export function detached(
  { output, isWatching }: Pick<Follow, 'output' | 'isWatching'>,
  session: Session,
): number {
  if (output.isJson) {
    output.json({ type: 'session.detached', session });
    return 0;
  }
  output.talk(isWatching ? 'Stopped watching; the session continues.' : 'Detached; the session continues.');
  output.talk(`  pulse watch ${session.id}`);
  return 0;
}

function printGone({ pulse, session, output }: Follow): void {
  const { style } = output.stderr;
  output.talk(`${style.red('error:')} Nobody runs session ${session.id} now.`);
  output.talk(`${style.cyan('hint:')} pulse resume ${session.id} continues it.`);
  output.talk(`      What happened is in ${runnerLog(pulse, session.id)}`);
}

/** Whether nobody has driven the session for too long. */
function watchRunner(pulse: Pulse, id: string): { isGone(): Promise<boolean> } {
  let goneSince: number | null = null;
  let checkedAt = Date.now();
  let calmUntil = 0;
  return {
    async isGone() {
      const now = Date.now();
      if (now - checkedAt < 1_000) return false;
      const state = await pulse.runner(id);
      // After a sleep of the machine or an absence of the store the runner gets its time to speak up.
      if (now - checkedAt > HEARTBEAT_MS) calmUntil = now + 2 * HEARTBEAT_MS;
      checkedAt = now;
      if (state !== 'none' || now < calmUntil) {
        goneSince = null;
        return false;
      }
      goneSince ??= now;
      return now - goneSince >= RUNNER_GONE_MS;
    },
  };
}

interface Steering extends Disposable {
  /** The signal that ended the session's run, if one did. */
  readonly interrupted: InterruptSignal | null;
  /** Resolves once what the person asked for is done: it needs the store, which is closed after the following. */
  asked(): Promise<void>;
}

function isAtTerminal({ isJson, stderr }: Output): boolean {
  return !isJson && stderr.isTerminal && process.stdin.isTTY === true;
}

function steer(
  { pulse, session, output, isWatching }: Follow,
  { view, leaving }: { view: View; leaving: AbortController },
): Steering {
  const isInteractive = isAtTerminal(output);
  let interrupted: InterruptSignal | null = null;
  let isAsking = false;
  let deadline: NodeJS.Timeout | undefined;
  let asked: Promise<void> = Promise.resolve();

  function asking(request: Promise<void>): Promise<void> {
    asked = request;
    return request;
  }

  async function pauseNow(signal: InterruptSignal): Promise<void> {
    if (interrupted) return leaving.abort('interrupted');
    interrupted = signal;
    view.say('Pausing: the agent is ended, its work kept.');
    deadline = setTimeout(() => leaving.abort('interrupted'), PAUSE_WAIT_MS);
    await asking(unlessStopped(pulse.pause(session.id, { now: true })));
  }

  async function ask(): Promise<void> {
    if (isAsking) return leaving.abort('detached');
    isAsking = true;
    keys?.hold();
    view.ask(INTERRUPT_ANSWERS);
    const answer = await readInterruptAnswer();
    isAsking = false;
    view.ask(null);
    keys?.release();
    if (answer === 'detach') return leaving.abort('detached');
    if (answer === 'pause') {
      view.say('Pausing after this iteration.');
      await asking(unlessStopped(pulse.pause(session.id)));
    }
    if (answer === 'abort') {
      view.say('Aborting.');
      await asking(unlessStopped(pulse.abort(session.id)));
    }
  }

  function interrupt(signal: InterruptSignal): void {
    if (isWatching) {
      leaving.abort('detached');
      return;
    }
    const handled = isInteractive && signal === 'SIGINT' ? ask() : pauseNow(signal);
    handled.catch((error: Error) => view.say(`error: ${error.message}`));
  }

  const interrupts = onInterrupt(interrupt);
  const keys = isInteractive
    ? openFollowKeys({
        key: (key) => void ('text' in key && key.text === 'e' && view.toggle?.()),
        interrupt: () => interrupt('SIGINT'),
      })
    : null;
  return {
    get interrupted() {
      return interrupted;
    },
    // Its failure was told where it was asked for.
    asked: () => asked.catch(() => undefined),
    [Symbol.dispose]() {
      interrupts[Symbol.dispose]();
      keys?.[Symbol.dispose]();
      clearTimeout(deadline);
    },
  };
}

/** The session may have come to its own end meanwhile: then that end stands. */
async function unlessStopped(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!isPulseError(error, 'invalid_transition')) throw error;
  });
}
