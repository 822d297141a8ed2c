/** The five answers: does it need me, is it alive, what was achieved, what did it cost, what is next. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Card, Head } from '../api/types.ts';
import { clock, duration, progress, shortSha, spentOf, wholeDuration, words } from '../ui/format.ts';
import { Meter } from '../ui/parts.tsx';
import { Status, TrustWord } from '../ui/status.tsx';
import { Ago, useNow } from '../ui/time.tsx';
import { Controls } from './controls.tsx';
import { LastSaid } from './people.tsx';

export function SessionHead({ head }: { head: Head }) {
  const { session } = head;
  return (
    <header className="session-head">
      <Goal text={session.goal} />
      <div className="session-state">
        <div role="status" aria-label="Session status" className="session-status">
          <Status card={session} />
          {session.stop_reason && session.stop_reason !== 'completed' && (
            <span className="dim">{words(session.stop_reason)}</span>
          )}
        </div>
        <TrustWord trust={session.trust} status={session.status} />
        <Sign head={head} />
        <span className="figures">
          <b>{progress(session)}</b> iterations
        </span>
        <Limits card={session} />
        <Controls card={session} />
      </div>
      <Facts head={head} />
    </header>
  );
}

const LONG = 240;

/** Whole in the heading; a long one is folded by its look alone. */
function Goal({ text }: { text: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const isLong = text.length > LONG || text.split('\n').length > 3;
  return (
    <div className="goal">
      <h1 className={`${isLong && !isOpen ? 'is-folded' : ''} ${text.includes('\n') ? 'has-lines' : ''}`}>
        {text}
      </h1>
      {isLong && (
        <button
          type="button"
          className="button button-quiet"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? 'Less' : 'All of it'}
        </button>
      )}
    </div>
  );
}

/** Is it alive? */
function Sign({ head: { session, waiting } }: { head: Head }) {
  if (waiting) {
    return (
      <span className="tone-needs">
        waits for {waiting.agent} ({words(waiting.failureClass)}) until {clock(waiting.until)}
      </span>
    );
  }
  if (!session.now) return null;
  return (
    <span className="sign">
      {session.now.activity}, last sign <Ago at={session.now.at} suffix=" ago" />
    </span>
  );
}

function Limits({ card }: { card: Card }) {
  const now = useNow();
  const { budget_usd, spent_usd, time_limit_ms, budget_tokens, total_tokens_used } = card;
  // What the store has is of the iterations that have ended: the present one is added.
  const since = card.status === 'running' && card.now ? Math.max(0, now - Date.parse(card.now.since)) : 0;
  const ran = card.running_ms + since;
  return (
    <span className="meters">
      <Meter label="cost" value={spent_usd} limit={budget_usd} text={spentOf(card)} />
      <Meter
        label="time"
        value={ran}
        limit={time_limit_ms}
        text={time_limit_ms === null ? duration(ran) : `${duration(ran)} of ${wholeDuration(time_limit_ms)}`}
      />
      {budget_tokens !== null && (
        <Meter
          label="tokens"
          value={total_tokens_used}
          limit={budget_tokens}
          text={`${total_tokens_used} of ${budget_tokens}`}
        />
      )}
    </span>
  );
}

function Facts({ head: { session, head } }: { head: Head }) {
  return (
    <dl className="facts">
      <div>
        <dt>id</dt>
        <dd>
          <code title={session.id}>{session.short}</code>
        </dd>
      </div>
      <div>
        <dt>project</dt>
        <dd title={session.project_path}>{session.project_name}</dd>
      </div>
      <div>
        <dt>branch</dt>
        <dd>
          <code>{session.branch_name}</code> {head && <code className="dim">{shortSha(head)}</code>}
          {session.branch_lags_at && (
            <span className="tone-needs"> lags: it is checked out or was moved</span>
          )}
        </dd>
      </div>
      <div>
        <dt>agent</dt>
        <dd>{session.agent}</dd>
      </div>
      {session.kind === 'goal' && (
        <div>
          <dt>verify</dt>
          <dd>
            {session.verify.length === 0 ? (
              <span className="tone-unverified">nothing: completions are UNVERIFIED</span>
            ) : (
              <code>{session.verify.join(' && ')}</code>
            )}
          </dd>
        </div>
      )}
      <div>
        <dt>commits</dt>
        <dd className="figures">{session.total_commits}</dd>
      </div>
      <LastSaid id={session.id} />
      {session.parent_session_id && (
        <div>
          <dt>works for</dt>
          <dd>
            <Link href={`/s/${session.parent_session_id}`}>{session.parent_session_id.slice(-4)}</Link>
          </dd>
        </div>
      )}
    </dl>
  );
}
