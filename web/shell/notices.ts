/** The browser's own notifications: a session has come to need a person, and nobody looks at this page. */
import { useEffect, useRef } from 'react';
import type { Card } from '../api/types.ts';
import { onLive } from '../live/live.ts';
import { sessionAddress } from '../ui/address.ts';
import { words } from '../ui/format.ts';

const ON = 'pulse.notices';
const openedAt = Date.now();

/** A browser has none where the page was opened by a plain address of the network. */
export function hasNotices(): boolean {
  return 'Notification' in window && window.isSecureContext;
}

export function areNoticesOn(): boolean {
  return hasNotices() && Notification.permission === 'granted' && localStorage.getItem(ON) === 'on';
}

/** Asks the browser for its permission; answers whether they are on now. */
export async function setNotices(isOn: boolean): Promise<boolean> {
  const isAllowed = isOn && hasNotices() && (await Notification.requestPermission()) === 'granted';
  if (isAllowed) localStorage.setItem(ON, 'on');
  else localStorage.removeItem(ON);
  return isAllowed;
}

/** Tells of what changes; what needed a person before is no news. */
export function useNotices(sessions: readonly Card[] | undefined, go: (address: string) => void): void {
  const known = useRef(new Map<string, boolean>());
  const open = useRef(go);
  open.current = go;
  useEffect(() => {
    for (const card of sessions ?? [])
      if (!known.current.has(card.id)) known.current.set(card.id, asksForPerson(card));
  }, [sessions]);
  useEffect(
    () =>
      onLive((message) => {
        if (message.type !== 'card') return;
        const { session } = message;
        const asked = known.current.get(session.id) ?? Date.parse(session.created_at) < openedAt;
        const asks = asksForPerson(session);
        known.current.set(session.id, asks);
        if (asks && !asked && session.parent_session_id === null) tell(session, open.current);
      }),
    [],
  );
}

function asksForPerson({ attention }: Pick<Card, 'attention'>): boolean {
  return attention === 'needs_you' || attention === 'failed';
}

function tell(session: Card, go: (address: string) => void): void {
  if (document.visibilityState === 'visible' || !areNoticesOn()) return;
  const { id, goal, status, stop_reason: reason, current_iteration: at } = session;
  try {
    const notice = new Notification(`${goal.split('\n')[0]!.slice(0, 80)}: ${status}`, {
      body: session.blocked_reason ?? words(reason ?? ''),
      // Several tabs tell it once.
      tag: `${id} ${at} ${reason}`,
    });
    notice.onclick = () => {
      window.focus();
      go(sessionAddress(session));
      notice.close();
    };
  } catch {
    // Some telephones allow them to service workers alone: there the switch goes off again.
    void setNotices(false);
  }
}
