/** What is live: which sessions are watched, what came, and since when nothing has. Kept outside of React. */
import { lastAnswer } from '../api/client.ts';
import type { Card, PulseEvent } from '../api/types.ts';
import { takeTurns } from './leader.ts';
import { dropDeadConnections } from './probe.ts';
import { followStream } from './stream.ts';

export type LiveMessage =
  | { type: 'card'; session: Card }
  | { type: 'event'; event: PulseEvent }
  | { type: 'gap'; sessionId: string; from: number; to: number }
  | { type: 'removed'; sessionId: string }
  | { type: 'ready' }
  | { type: 'open' };

export interface LiveState {
  isLive: boolean;
  /** Nothing was heard for so long, neither by the stream nor by an answer, that nobody would hear a change. */
  isSilent: boolean;
  /** When anything was last heard; `null`: never. */
  heardAt: number | null;
  /** Reading needs the token here. */
  isRefused: boolean;
}

type Told =
  | { to: 'all'; message: LiveMessage }
  | { to: 'all'; state: LiveState }
  | { to: 'leader'; tab: string; watch: Record<string, number> };

const MOST_WATCHED = 20;
/** A tab that is gone says nothing more. */
const INTEREST_MS = 45_000;
const REPEAT_MS = 15_000;
const SILENT_MS = 3_000;
const LISTEN_MS = 500;
/** After so long out of sight everything is asked again: a machine may have slept. */
const AWAY_MS = 15_000;

const tab = Math.random().toString(36).slice(2);
const own = new Map<string, { count: number; seq: number }>();
const others = new Map<string, { watch: Record<string, number>; at: number }>();
const listeners = new Set<(message: LiveMessage) => void>();
const observers = new Set<() => void>();
let state: LiveState = { isLive: false, isSilent: false, heardAt: null, isRefused: false };
let channel: BroadcastChannel | null = null;
let restart: (() => void) | null = null;

export function startLive(): () => void {
  const stop = new AbortController();
  channel = new BroadcastChannel('pulse.live');
  channel.onmessage = ({ data }: MessageEvent<Told>) => hear(data);
  const repeat = setInterval(tellInterest, REPEAT_MS);
  const beganMs = Date.now();
  const listening = setInterval(() => listen(beganMs), LISTEN_MS);
  let hiddenMs: number | null = document.visibilityState === 'hidden' ? beganMs : null;
  const look = (): void => {
    const isBack = document.visibilityState === 'visible';
    if (isBack && hiddenMs !== null && Date.now() - hiddenMs >= AWAY_MS) {
      setState({ ...state, isLive: false }, false);
      void dropDeadConnections(stop.signal).then(() => restart?.());
    }
    hiddenMs = isBack ? null : (hiddenMs ?? Date.now());
  };
  document.addEventListener('visibilitychange', look);
  void takeTurns({ lead, signal: stop.signal });
  tellInterest();
  return () => {
    stop.abort();
    clearInterval(repeat);
    clearInterval(listening);
    document.removeEventListener('visibilitychange', look);
    channel?.close();
    channel = null;
  };
}

/** The events of this session are wanted, from `seq` on. */
export function watchSession(id: string, seq: number): () => void {
  const known = own.get(id);
  own.set(id, { count: (known?.count ?? 0) + 1, seq: Math.max(known?.seq ?? 0, seq) });
  if (!known) changeInterest();
  return () => {
    const entry = own.get(id)!;
    if (entry.count > 1) return void own.set(id, { ...entry, count: entry.count - 1 });
    own.delete(id);
    changeInterest();
  };
}

export function onLive(listener: (message: LiveMessage) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function liveState(): LiveState {
  return state;
}

export function observeLive(observer: () => void): () => void {
  observers.add(observer);
  return () => observers.delete(observer);
}

/** After a login: the stream is asked again with the new key. */
export function reconnect(): void {
  restart?.();
}

/** Whether anybody answers. Each tab listens for itself: its own answers count, too. */
function listen(beganMs: number): void {
  const lastMs = Math.max(state.heardAt ?? 0, lastAnswer(), beganMs);
  const isSilent = !state.isLive && Date.now() - lastMs > SILENT_MS;
  if (isSilent !== state.isSilent) setState({ ...state, isSilent }, false);
}

async function lead(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const connection = new AbortController();
    const end = (): void => connection.abort();
    signal.addEventListener('abort', end, { once: true });
    restart = end;
    await followStream({
      watched,
      signal: connection.signal,
      onOpen: () => {
        setState({ isLive: true, isSilent: false, heardAt: Date.now(), isRefused: false });
        give({ type: 'open' });
      },
      onSign: () => {
        // Ages are shown by the minute: a state for each byte would be told for nothing.
        if (!state.isLive || Date.now() - (state.heardAt ?? 0) > 1_000)
          setState({ ...state, isLive: true, isSilent: false, heardAt: Date.now() });
      },
      onLost: (status) => setState({ ...state, isLive: false, isRefused: status === 401 }),
      onMessage: ({ event, data }) => give(read(event, data)),
    });
    signal.removeEventListener('abort', end);
  }
  restart = null;
}

function read(event: string | undefined, data: string): LiveMessage {
  const value = JSON.parse(data);
  return event === undefined || event === 'message' ? { type: 'event', event: value } : value;
}

function give(message: LiveMessage): void {
  channel?.postMessage({ to: 'all', message } satisfies Told);
  take(message);
}

function take(message: LiveMessage): void {
  if (message.type === 'event') {
    const { sessionId, seq } = message.event;
    const watched = own.get(sessionId);
    if (watched && seq > watched.seq) own.set(sessionId, { ...watched, seq });
  }
  for (const listener of listeners) listener(message);
}

function hear(told: Told): void {
  if (told.to === 'leader') {
    const before = watched();
    others.set(told.tab, { watch: told.watch, at: Date.now() });
    if (names(watched()) !== names(before)) restart?.();
  } else if ('message' in told) take(told.message);
  else setState(told.state, false);
}

function changeInterest(): void {
  tellInterest();
  restart?.();
}

function tellInterest(): void {
  const watch = Object.fromEntries([...own].map(([id, { seq }]) => [id, seq]));
  channel?.postMessage({ to: 'leader', tab, watch } satisfies Told);
}

/** Of this tab first, then of the others, the least that any of them has. */
function watched(): string {
  const least = new Map([...own].map(([id, { seq }]) => [id, seq]));
  for (const [name, { watch, at }] of others) {
    if (Date.now() - at > INTEREST_MS) others.delete(name);
    else for (const [id, seq] of Object.entries(watch)) least.set(id, Math.min(seq, least.get(id) ?? seq));
  }
  return [...least]
    .slice(0, MOST_WATCHED)
    .map(([id, seq]) => `${id}:${seq}`)
    .join(',');
}

function names(vector: string): string {
  return vector.replaceAll(/:\d+/g, '');
}

function setState(next: LiveState, isTold = true): void {
  state = next;
  if (isTold) channel?.postMessage({ to: 'all', state } satisfies Told);
  for (const observer of observers) observer();
}
