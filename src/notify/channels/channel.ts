/** What a channel does: it hands one message to a service, once. Waiting, order and repetition are the outbox's. */
import type { Channel } from '../../domain/notify.ts';
import type { Message } from '../texts.ts';

/** No sender takes longer for one message. */
export const MOST_SENDING_MS = 60_000;

export interface Sending extends Message {
  /** The same for every attempt to send this message: services that know it show it once. */
  key: string;
  destination: string;
  about: { type: string; sessionId: string; iteration: number | null };
}

/** `later`: it may get through another time, after `afterMs` if the service says so. `refused`: it never will. */
export type Outcome =
  | { kind: 'sent'; providerId: string | null }
  | { kind: 'later'; error: string; afterMs?: number }
  | { kind: 'refused'; error: string };

export interface Sender<Settings> {
  /** The variables that must be set. */
  needs(settings: Settings): string[];
  /** Its channel leaves such messages out. */
  skips?(message: Message, settings: Settings): boolean;
  send(
    sending: Sending,
    means: { settings: Settings; secret(name: string): string; signal: AbortSignal },
  ): Promise<Outcome>;
}

export type AnySender = Sender<never>;
export type Senders = Record<Channel, AnySender>;
