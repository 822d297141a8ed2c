/** Messages to people: the channels that can be tried, and what was sent or not. */
import { useState } from 'react';
import { Link } from 'wouter';
import { CHANNELS } from '../../src/domain/channels.ts';
import { useAction } from '../api/action.ts';
import { pulse } from '../api/pulse.ts';
import { useRead } from '../api/queries.ts';
import { words } from '../ui/format.ts';
import { ActionButton, Empty, Failure, Section } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

interface Notification {
  id: string;
  session_id: string;
  type: string;
  iteration: number | null;
  channel: string;
  destination: string;
  status: string;
  attempts: number;
  error: string | null;
  created_at: string;
}

interface Answer {
  notifications: Notification[];
  counts: { waiting: number; planned: number; failed: number };
}

/** Where people can write to Pulse. */
const CHATS: readonly string[] = ['telegram', 'sms', 'discord', 'slack'];

export function Outbox({ path }: { path: string }) {
  const { data, error } = useRead<Answer>('/api/notifications');
  const [channel, setChannel] = useState<string>(CHANNELS[0]);
  const pair = useAction(pulse.notifications.pair, { says: 'A code is made' });
  const test = useAction<{ destination: string }>('/api/notify/test', { says: 'The test is sent' });
  return (
    <Section
      title="Notifications"
      aside={
        <>
          {data && (
            <span className="dim figures">
              {data.counts.waiting} waiting, {data.counts.failed} failed
            </span>
          )}
          <label className="inline">
            <span className="unseen">Channel</span>
            <select value={channel} onChange={({ target }) => setChannel(target.value)}>
              {CHANNELS.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <ActionButton
            disabled={test.isBusy}
            onClick={() => test.run({ channel, ...(path ? { projectPath: path } : {}) })}
          >
            Test
          </ActionButton>
          {CHATS.includes(channel) && (
            <ActionButton disabled={pair.isBusy} onClick={() => pair.run({ channel })}>
              Pair
            </ActionButton>
          )}
        </>
      }
    >
      {pair.result && (
        <p className="tone-done" role="status">
          Send this from {pair.result.channel} within ten minutes: <code>{pair.result.text}</code>
        </p>
      )}
      {test.result && <p className="tone-done">Sent to {test.result.destination}.</p>}
      <Failure error={test.error ?? pair.error ?? error} />
      {data?.notifications.length === 0 && (
        <Empty command="pulse notify test telegram">Nobody was told anything yet.</Empty>
      )}
      <ul className="findings">
        {data?.notifications.map((one) => (
          <Row key={one.id} one={one} />
        ))}
      </ul>
    </Section>
  );
}

function Row({ one }: { one: Notification }) {
  const retry = useAction(`/api/notifications/${one.id}/retry`, { says: 'It is tried again' });
  return (
    <li>
      <Outcome word={one.status} />
      <span>
        <Link href={`/s/${one.session_id}`}>
          {words(one.type)}
          {one.iteration !== null && ` ${one.iteration}`}
        </Link>{' '}
        <span className="dim">
          by {one.channel} to {one.destination}, <Ago at={one.created_at} suffix=" ago" />
          {one.attempts > 1 && `, tried ${one.attempts} times`}
        </span>
        {one.error && <span className="tone-failed"> {one.error}</span>}
      </span>
      {one.status === 'failed' && (
        <ActionButton disabled={retry.isBusy} onClick={() => retry.run()}>
          Retry
        </ActionButton>
      )}
      <Failure error={retry.error} />
    </li>
  );
}
