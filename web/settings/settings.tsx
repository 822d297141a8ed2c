/** The machine and this browser: doctor, config with its sources, devices, channels, the outbox, the look. */
import { useState } from 'react';
import { useAction, useLogin } from '../api/action.ts';
import { query, storedKey, storeKey } from '../api/client.ts';
import { pulse } from '../api/pulse.ts';
import { useRead } from '../api/queries.ts';
import type { Device } from '../api/types.ts';
import { areKeysOff, setKeysOff } from '../shell/actions.ts';
import { areNoticesOn, hasNotices, setNotices } from '../shell/notices.ts';
import { chooseTheme, chosenTheme, type Theme } from '../shell/theme.ts';
import { useParameter } from '../ui/address.ts';
import type { IconName } from '../ui/icons.tsx';
import { ActionButton, Button, Empty, Failure, Loading, Section } from '../ui/parts.tsx';
import { Tag, type Tone } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import { Kept } from './kept.tsx';
import { Outbox } from './outbox.tsx';

export default function Settings() {
  const [path, setPath] = useParameter('path', '');
  return (
    <div className="settings">
      <header className="page-head">
        <h1>Settings</h1>
        <label className="filters">
          Repository{' '}
          <input
            value={path}
            placeholder="the machine alone"
            onChange={({ target }) => setPath(target.value)}
          />
        </label>
      </header>
      <Look />
      <Doctor path={path} />
      <Devices />
      <Outbox path={path} />
      <Kept />
      <Config path={path} />
    </div>
  );
}

function Look() {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [isOff, setIsOff] = useState(areKeysOff);
  return (
    <Section title="This browser">
      <div className="row">
        <label>
          Theme{' '}
          <select
            value={theme}
            onChange={({ target }) => {
              chooseTheme(target.value as Theme);
              setTheme(target.value as Theme);
            }}
          >
            <option value="system">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
        <label className="inline">
          <input
            type="checkbox"
            checked={!isOff}
            onChange={() => {
              setKeysOff(!isOff);
              setIsOff(!isOff);
            }}
          />{' '}
          Letters are keys
        </label>
        <Notices />
      </div>
    </Section>
  );
}

function Notices() {
  const [isOn, setIsOn] = useState(areNoticesOn);
  const [isRefused, setIsRefused] = useState(false);
  const change = async (wanted: boolean): Promise<void> => {
    const isNow = await setNotices(wanted);
    setIsOn(isNow);
    setIsRefused(wanted && !isNow);
  };
  return (
    <>
      <label className="inline">
        <input
          type="checkbox"
          checked={isOn}
          disabled={!hasNotices()}
          onChange={({ target }) => void change(target.checked)}
        />{' '}
        Notify me when a session needs me and this page is hidden
      </label>
      {!hasNotices() && (
        <span className="hint">This browser allows it on this machine and over TLS alone.</span>
      )}
      {isRefused && (
        <span role="alert" className="tone-needs">
          The browser does not allow it.
        </span>
      )}
    </>
  );
}

interface Finding {
  level: 'ok' | 'warn' | 'bad' | 'absent';
  subject: string;
  text: string;
  hint: string | null;
}

const LEVELS: Record<Finding['level'], [Tone, IconName]> = {
  ok: ['done', 'done'],
  warn: ['needs', 'needs'],
  bad: ['failed', 'failed'],
  absent: ['quiet', 'quiet'],
};

function Doctor({ path }: { path: string }) {
  const [check, setCheck] = useState('');
  const { data, error } = useRead<{ findings: Finding[] }>(`/api/doctor${query({ path, check })}`);
  // Kept refs and worktrees older than 30 days, and what attempts have left.
  const collect = useAction(pulse.collectGarbage, { says: 'The garbage is collected' });
  const collected = collect.result?.findings.find(({ subject }) => subject === 'gc');
  return (
    <Section
      title="Doctor"
      aside={
        <ActionButton disabled={collect.isBusy} onClick={() => collect.run(path ? { path } : {})}>
          {collect.isBusy ? 'Collecting…' : 'Collect garbage'}
        </ActionButton>
      }
    >
      <ProtectedCheck onAsk={setCheck} />
      <Failure error={error ?? collect.error} />
      {collected && (
        <p role="status" className="tone-done">
          {collected.text}
        </p>
      )}
      {!data && !error && <Loading of="the findings" />}
      <ul className="findings" aria-label="Findings">
        {data?.findings.map(({ level, subject, text, hint }) => {
          const [tone, icon] = LEVELS[level];
          return (
            <li key={`${subject}${text}`}>
              <Tag tone={tone} icon={icon}>
                {level}
              </Tag>
              <span>
                <b>{subject}</b> {text} {hint && <span className="hint">{hint}</span>}
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

/** What protects a check that is in no config yet. */
function ProtectedCheck({ onAsk }: { onAsk(check: string): void }) {
  const [text, setText] = useState('');
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(text.trim());
      }}
    >
      <label>
        What protects the check{' '}
        <input placeholder="npm test" value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <Button type="submit">Ask doctor</Button>
    </form>
  );
}

function Devices() {
  const hasKey = storedKey() !== null;
  const { data, error } = useRead<{ keys: Device[] }>('/api/keys', { isEnabled: hasKey });
  const toLogin = useLogin();
  return (
    <Section
      title="Devices"
      aside={
        hasKey ? (
          <Button
            onClick={() => {
              storeKey(null);
              toLogin();
            }}
          >
            Sign out here
          </Button>
        ) : (
          <Button onClick={toLogin}>Sign in to change something</Button>
        )
      }
    >
      <Failure error={error} />
      {!hasKey && <Empty command="pulse open">This browser has no key: it reads, and changes nothing.</Empty>}
      <ul className="findings">
        {data?.keys.map((device) => (
          <DeviceRow key={device.id} device={device} />
        ))}
      </ul>
    </Section>
  );
}

function DeviceRow({ device }: { device: Device }) {
  const revoke = useAction(`/api/keys/${device.id}`, { method: 'DELETE', says: 'The device is revoked' });
  return (
    <li className="device">
      <span>
        <b>{device.name}</b> {device.isThis && <span className="tone-done">this one</span>}{' '}
        <span className="dim">
          {device.scopes.join(', ')}, since <Ago at={device.createdAt} />
          {device.lastUsedAt && (
            <>
              , used <Ago at={device.lastUsedAt} suffix=" ago" />
            </>
          )}
        </span>
      </span>
      <ActionButton
        disabled={revoke.isBusy}
        aria-label={`Revoke ${device.name}`}
        onClick={() => revoke.run()}
      >
        Revoke
      </ActionButton>
      <Failure error={revoke.error} />
    </li>
  );
}

interface Setting {
  value: unknown;
  source: string;
}

function Config({ path }: { path: string }) {
  const { data, error } = useRead<{ settings: Record<string, Setting> }>(`/api/config${query({ path })}`);
  return (
    <Section title="Config">
      <Failure error={error} />
      {data && (
        <div className="table-wrap">
          <table aria-label="Config">
            <thead>
              <tr>
                <th>name</th>
                <th>value</th>
                <th>source</th>
              </tr>
            </thead>
            <tbody>
              {Object.entries(data.settings).map(([name, { value, source }]) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td>
                    <code>{JSON.stringify(value)}</code>
                  </td>
                  <td className="dim">{source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}
