/** What surrounds every view: the way to the others, what needs a person, and whether all of it is live. */
import { type ReactNode, useEffect } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useLogin } from '../api/action.ts';
import { useCards } from '../api/queries.ts';
import { useLive, useLiveState, useNotLiveSince } from '../live/use-live.ts';
import { needsPerson } from '../sessions/counts.ts';
import { sessionAddress } from '../ui/address.ts';
import { clock } from '../ui/format.ts';
import { Icon, type IconName } from '../ui/icons.tsx';
import { useActions } from './actions.ts';
import { LiveRegion } from './announce.tsx';
import { Keys } from './keys.tsx';
import { useNotices } from './notices.ts';

const PLACES: { name: string; label: string; href: string; icon: IconName }[] = [
  { name: 'sessions', label: 'Sessions', href: '/', icon: 'list' },
  { name: 'needs', label: 'Needs me', href: '/?attention=needs_you', icon: 'needs' },
  { name: 'new', label: 'New', href: '/new', icon: 'new' },
  { name: 'project', label: 'Project', href: '/project', icon: 'file' },
  { name: 'search', label: 'Search', href: '/search', icon: 'search' },
  { name: 'settings', label: 'Settings', href: '/settings', icon: 'settings' },
];

export function Shell({ children }: { children: ReactNode }) {
  useLive();
  const [address, navigate] = useLocation();
  const here = address + (useSearch().includes('attention=needs_you') ? '?attention=needs_you' : '');
  const { isRefused } = useLiveState();
  const toLogin = useLogin();
  const { data } = useCards();
  useNotices(data?.sessions, navigate);
  const needing = (data?.sessions ?? []).filter(needsPerson);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each refusal
  useEffect(() => {
    if (isRefused) toLogin();
  }, [isRefused]);
  useActions([
    ...PLACES.map(({ label, href }) => ({ label: `Go to ${label}`, run: () => navigate(href) })),
    { label: 'Search', key: '/', run: () => navigate('/search') },
    {
      label: 'Next session that needs you',
      key: 'n',
      run: () => {
        const at = needing.findIndex(({ id }) => address.includes(id));
        const next = needing[(at + 1) % needing.length];
        if (next) navigate(sessionAddress(next));
      },
    },
  ]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <Link href="/" className="brand" aria-label="Pulse">
          <Icon name="pulse" />
          <span aria-hidden="true">Pulse</span>
        </Link>
        <nav aria-label="Main">
          {PLACES.map(({ name, label, href, icon }) => (
            <Link key={name} href={href} data-place={name} aria-current={here === href ? 'page' : undefined}>
              <Icon name={icon} />
              <span>{label}</span>
              {name === 'needs' && needing.length > 0 && <span className="badge">{needing.length}</span>}
            </Link>
          ))}
        </nav>
        <LiveMark />
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <LiveRegion />
      <Keys />
    </>
  );
}

function LiveMark() {
  const since = useNotLiveSince();
  const { isLive } = useLiveState();
  if (since === null) {
    return (
      <span className={`live ${isLive ? 'tone-done' : 'tone-quiet'}`}>{isLive ? 'live' : 'connecting'}</span>
    );
  }
  return (
    <span className="live tone-needs">{since === 0 ? 'not live' : `not live since ${clock(since)}`}</span>
  );
}
