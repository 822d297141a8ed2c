/** What the session waits for, and the one way on: by why it stopped. */
import type { Card, Head } from '../api/types.ts';
import { Markdown } from '../ui/markdown.tsx';
import { Command } from '../ui/parts.tsx';
import { AnswerForm } from './answer-form.tsx';
import { ChangedChecks } from './changed-checks.tsx';
import { isLeft, wayOn } from './way-on.ts';

export function Decide({ head }: { head: Head }) {
  const { session } = head;
  const way = wayOn(session);
  if (way === 'checks') return <ChangedChecks id={session.id} />;
  // Another part of the page decides.
  if (way !== 'resume') return null;
  return (
    <section className={`decide tone-edge-${session.status === 'failed' ? 'failed' : 'needs'}`} id="answer">
      <Question session={session} />
      {head.unresolved.length > 0 && (
        <ul className="unresolved">
          {head.unresolved.map(({ pulse, issue, reason: why }) => (
            <li key={`${pulse}${issue}`}>
              <code>{pulse}</code> {issue} <span className="dim">({why})</span>
            </li>
          ))}
        </ul>
      )}
      {session.parent_session_id ? (
        <p className="hint">It works for another session: that one is resumed.</p>
      ) : (
        <AnswerForm session={session} />
      )}
    </section>
  );
}

function Question({ session }: { session: Card }) {
  const { stop_reason: reason, blocked_reason: text } = session;
  if (isLeft(session)) {
    return (
      <p>
        Nobody runs this session: its process is gone. <b>Resume</b> adopts it here; or{' '}
        <Command text={`pulse resume ${session.short}`} />
      </p>
    );
  }
  return (
    <>
      <h2>{TITLES[reason ?? ''] ?? 'It stopped'}</h2>
      {text && <Markdown text={text} />}
    </>
  );
}

const TITLES: Record<string, string> = {
  blocked_by_agent: 'The agent asks',
  signal_conflict: 'Its signals contradict each other',
  no_signal: 'The agent ended without a signal',
  iteration_limit: 'All iterations are used',
  budget_cost: 'The budget is used up',
  budget_tokens: 'The tokens are used up',
  budget_time: 'The time is used up',
  stagnation: 'Nothing new came of the last iterations',
  verification_failed: 'The verification failed again and again',
  merge_conflict: 'Work cannot be merged as it is: a resume tries it again',
  unresolved_issues: 'A pulse was finished with unresolved issues',
  usage_limit: "The agent's usage limit is reached",
  service_unavailable: "The agent's service does not answer",
  agent_auth: 'The agent is not signed in',
  paused_by_user: 'It is paused',
  agent_unavailable: 'The agent cannot be started',
  agent_error: 'The agent failed',
  preflight_failed: 'Preflight failed',
  pulse_failed: 'A pulse failed',
  internal_error: 'Pulse itself failed',
};
