/** What people may do from a chat: the operations of the table, in their name. */
import { homedir } from 'node:os';
import { describeTrust, trustOf } from '../domain/check-words.ts';
import { cut } from '../domain/cut.ts';
import { PulseError } from '../domain/errors.ts';
import { decisionCommand, higherLimit } from '../domain/next-command.ts';
import type { NotifySettings } from '../domain/notify.ts';
import type { ChatActions, ChatCaller } from '../notify/inbound/answer.ts';
import type { TransactionHook } from '../operations/context.ts';
import type { Pulse } from '../pulse.ts';
import type { Session } from '../store/sessions.ts';

export interface ChatActionOptions {
  pulse: Pulse;
  projects: NonNullable<NotifySettings['projects']>;
  /** A merge cannot be taken back from a chat: only where the config says so. */
  mayMerge: boolean;
  runSession(sessionId: string): void;
  take: TransactionHook;
}

/** Where a session that was started there tells what happens; on Slack where every session does. */
const PLACES = { telegram: 'chatId', sms: 'phoneNumber', discord: 'discordThreadId', slack: null } as const;

export function createChatActions(options: ChatActionOptions): ChatActions {
  const { pulse, projects, runSession } = options;
  const callerOf = ({ actor, channel, within }: ChatCaller, isRun: boolean) => ({
    ...{ actor, createdBy: channel },
    async within(...[db, sessionId]: Parameters<TransactionHook>) {
      await within(db, sessionId);
      if (isRun) await options.take(db, sessionId);
    },
  });
  return {
    async start(name, goal, by) {
      const path = projects[name];
      if (path === undefined)
        throw new PulseError('not_found', `No project is named ${name} here.`, {
          hint: `Projects: ${Object.keys(projects).join(', ') || 'none; notify.projects of the config names them'}.`,
        });
      const told = { chatId: undefined, phoneNumber: undefined, discordThreadId: undefined };
      const place = PLACES[by.channel];
      const { session } = await pulse.start({
        // A shell would read it so; a config has none.
        ...{
          goal,
          path: path.replace(/^~(?=\/|$)/, homedir()),
          ...told,
          ...(place ? { [place]: by.chat } : {}),
        },
        ...callerOf(by, true),
      });
      runSession(session.id);
      return `${session.id} works on it.`;
    },
    async status() {
      const { sessions } = await pulse.list({ limit: 10 });
      return sessions.map(line).join('\n') || 'There is no session yet.';
    },
    async pause(id, by) {
      const { session } = await pulse.pause(id, callerOf(by, false));
      return `${session.id}: it pauses after the current iteration.`;
    },
    async abort(id, by) {
      const { session } = await pulse.abort(id, callerOf(by, false));
      return line(session);
    },
    async answer(id, text, by) {
      const session = await pulse.session(id);
      // As on every surface: a plan that nobody wants ends its workflow.
      if (waitsForPlan(session) && NO.test(text)) {
        const { session: ended } = await pulse.abort(id, callerOf(by, false));
        return `The plan is rejected. ${line(ended)}`;
      }
      const { id: changed } = await decide(options, session, { text, by: callerOf(by, true) });
      runSession(changed);
      return `${changed} continues.`;
    },
    async details(id) {
      const session = await pulse.session(id);
      const { goal, blocked_reason: reason, branch_name: branch, base_branch: base, verify } = session;
      const { spent_usd: spent, budget_usd: budget, total_commits: commits, progress_log: log } = session;
      const trust = trustOf(session);
      const last = log.at(-1)?.summary;
      return [
        line({ ...session, goal: '' }).replace(/: $/, ''),
        cut(goal, 500),
        ...(reason ? [`Asks: ${cut(reason, 1_000)}`] : []),
        ...(last ? [`Last: ${cut(last, 500)}`] : []),
        ...(trust
          ? [
              `Result: ${describeTrust(session.status, trust)}${verify.length > 0 ? ` by ${cut(verify.join(', '), 200)}` : ''}`,
            ]
          : []),
        `${commits} commits on ${branch} (from ${base}), $${spent.toFixed(2)}${budget === null ? '' : ` of $${budget}`}`,
      ].join('\n');
    },
  };
}

function line({ id, status, stop_reason: reason, goal, current_iteration: n, max_iterations: max }: Session) {
  const [first = ''] = goal.split('\n');
  return `${id}: ${status}${reason ? ` (${reason})` : ''}, ${n}/${max}: ${cut(first, 80)}`;
}

interface Decision {
  text: string;
  by: { actor: string; createdBy: ChatCaller['channel']; within: TransactionHook };
}

const YES = /^(?:yes|y|ok|okay|approve|approved|accept|accepted|go|raise)\W*$/i;
const NO = /^(?:no|n|reject|rejected|deny|denied)\b\W*/i;

/** Not for its review: nothing of the plan was done. */
function waitsForPlan({ status, stop_reason: reason, total_commits: commits }: Session): boolean {
  return status === 'blocked' && reason === 'approval_required' && commits === 0;
}

/** Where the session waits for a yes or a no, other words are refused: nobody approves by mistake. */
async function decide(options: ChatActionOptions, session: Session, decision: Decision): Promise<Session> {
  const { pulse, mayMerge } = options;
  const { id, stop_reason: reason } = session;
  const { text, by } = decision;
  const isYes = YES.test(text);
  if (higherLimit(session) !== null) return raise(pulse, session, { ...decision, isYes });
  if (session.status !== 'blocked' || decisionCommand(session) === null)
    return (await pulse.resume(id, { ...(text ? { answer: text } : {}), ...by })).session;
  const isNo = NO.test(text);
  const why = text.replace(NO, '').trim();
  if (!isYes && !isNo)
    throw new PulseError('usage', `Session ${id} waits for a decision (${reason}).`, {
      hint: 'Answer yes, or no with the reason.',
    });
  switch (reason) {
    case 'checks_changed':
      if (isYes) return (await pulse.accept(id, by)).session;
      return (await pulse.reject(id, { text: requireWhy(why), ...by })).session;
    case 'extension_requested':
      return (await pulse.workflow.decideExtension(id, { approve: isYes, ...by })).session;
    case 'approval_required':
      if (waitsForPlan(session)) return (await pulse.workflow.approve(id, by)).session;
      if (isNo) return (await pulse.workflow.review(id, { reject: requireWhy(why), ...by })).session;
      if (mayMerge) return (await pulse.workflow.review(id, { approve: true, ...by })).session;
  }
  throw new PulseError('forbidden', `This cannot be decided from a chat (${reason}).`, {
    hint: `${decisionCommand(session)?.command}; for merges, notify.merge of the config allows it here.`,
  });
}

function requireWhy(why: string): string {
  if (why !== '') return why;
  throw new PulseError('usage', 'A no needs its reason: the next run is told.', {
    hint: 'For example: no, keep the old error message.',
  });
}

/** Plain words do not raise a limit: only a yes does. */
async function raise(
  pulse: Pulse,
  session: Session,
  { by, isYes }: Decision & { isYes: boolean },
): Promise<Session> {
  if (!isYes)
    throw new PulseError('usage', `Session ${session.id} has reached a limit (${session.stop_reason}).`, {
      hint: `Answer yes to raise it: ${higherLimit(session)}.`,
    });
  const [option = '', value = ''] = higherLimit(session)!.split(' ');
  const limits: Record<string, object> = {
    '--max-iterations': { maxIterations: Number(value) },
    '--budget-usd': { budgetUsd: Number(value) },
    '--budget-tokens': { budgetTokens: Number(value) },
    '--time-limit': { timeLimit: value },
  };
  return (await pulse.resume(session.id, { ...limits[option], ...by })).session;
}
