/** What a channel does: it hands one message to a service, once. Waiting, order and repetition are the outbox's. */
import type { Channel } from '../../domain/channels.ts';
import type { Button } from '../buttons.ts';
import type { Message } from '../texts.ts';

/** No sender takes longer for one message. */
export const MOST_SENDING_MS = 60_000;

export interface Sending extends Message {
  /** The same for every attempt to send this message: services that know it show it once. */
  key: string;
  destination: string;
  about: { type: string; sessionId: string; iteration: number | null };
  /** Only for channels that have them. */
  buttons?: readonly Button[];
  /** The service's name of the message that this replaces. Only for channels that can. */
  edits?: string;
  /** What holds the session's messages together here, as the first of them has said. */
  thread?: string | null;
  /** Where there is none yet, a thread or topic is opened for the session. */
  opensThread?: boolean;
  /** Of the session, for what is named after it. */
  title?: string;
}

/**
 * `later`: it may get through another time, after `afterMs` if the service says so. `refused`: it never will; with
 * `mayPass` somebody may be mending it just now, such as a right that is missing; with `isGone` it is so of every message
 * to this address. `thread`: what the next messages of the session belong to, also where this one did not get through.
 * `movedTo`: what the destination is called from now on.
 */
export type Outcome = { thread?: string | null; movedTo?: string | undefined } & (
  | { kind: 'sent'; providerId: string | null }
  | { kind: 'later'; error: string; afterMs?: number }
  | { kind: 'refused'; error: string; mayPass?: boolean; isGone?: boolean }
);

export interface Sender<Settings> {
  /** The variables that must be set. */
  needs(settings: Settings): string[];
  /** Whether it can be done from here. Default: from everywhere. */
  isHere?(settings: Settings, environment: NodeJS.ProcessEnv): boolean;
  /** What is older and cannot be done from here is dropped: it would be no news. Default: nothing is. */
  freshMs?: number;
  /** Its channel leaves such messages out. */
  skips?(message: Message & Partial<Pick<Sending, 'about'>>, settings: Settings): boolean;
  /** Its messages can have buttons, and be changed afterwards. */
  isTwoWay?: boolean;
  send(
    sending: Sending,
    means: { settings: Settings; secret(name: string): string; signal: AbortSignal },
  ): Promise<Outcome>;
}

export type AnySender = Sender<never>;
export type Senders = Record<Channel, AnySender>;
