/** The operations on mail and reservations, ready to be called. */
import { operation, type Told } from '../../operations/operation.ts';
import { cut } from '../../operations/session/tool-text.ts';
import type { MessageView } from '../mail/read-messages.ts';
import type { ReservationView } from '../reservations/held.ts';
import {
  acknowledgeMail,
  listMail,
  type MessageList,
  registerName,
  replyToMail,
  searchMail,
  sendMail,
  showInbox,
  showTopic,
} from './mail.ts';
import * as mail from './mail-definitions.ts';
import * as definitions from './reservation-definitions.ts';
import { end, listHeld, type ReserveAnswer, release, reserve } from './reservations.ts';
import * as views from './views.ts';

export const COORDINATION_INSTRUCTIONS =
  'Agents of one project write to each other (register_agent, send_message, fetch_inbox) and keep files for a while ' +
  '(file_reservation_paths, release_file_reservations).';

export const mailOperations = {
  register: operation(mail.register, {
    run: registerName,
    view: views.AgentAnswer,
    tell: ({ agent }) => ({ text: `The name is ${agent.name}.`, data: { agent } }),
  }),
  send: operation(mail.send, { run: sendMail, view: views.MessageAnswer, tell: sentText }),
  reply: operation(mail.reply, { run: replyToMail, view: views.MessageAnswer, tell: sentText }),
  acknowledge: operation(mail.acknowledge, {
    run: acknowledgeMail,
    view: views.MessageAnswer,
    tell: ({ message }) => ({ text: `Acknowledged ${message.id}.`, data: { message: bounded(message) } }),
  }),
  list: operation(mail.list, { run: listMail, view: views.MessagesAnswer }),
  inbox: operation(mail.inbox, { run: showInbox, view: views.MessagesAnswer, tell: messagesText }),
  showTopic: operation(mail.showTopic, { run: showTopic, view: views.MessagesAnswer, tell: messagesText }),
  search: operation(mail.search, { run: searchMail, view: views.MessagesAnswer, tell: messagesText }),
};

export const reservationOperations = {
  reserve: operation(definitions.reserve, { run: reserve, view: views.ReserveAnswer, tell: reserveText }),
  release: operation(definitions.release, {
    run: release,
    view: views.ReleaseAnswer,
    tell: ({ released }) => ({
      text: heldText(released, 'Released:', 'Nothing was reserved.'),
      data: { released },
    }),
  }),
  list: operation(definitions.list, {
    run: listHeld,
    view: views.ReservationsAnswer,
    tell: ({ reservations }) => ({
      text: heldText(reservations, '', 'Nothing is reserved.'),
      data: { reservations },
    }),
  }),
  end: operation(definitions.end, { run: end, view: views.EndAnswer }),
};

function sentText({ message }: { message: MessageView }): Told {
  return { text: `Sent ${message.id} to ${message.to.join(', ')}.`, data: { message: bounded(message) } };
}

function messagesText({ messages: found }: MessageList): Told {
  const messages = found.map(bounded);
  const texts = messages.map(
    ({ id, sender_name, subject, body_md }) => `${id} from ${sender_name}: ${subject}\n${body_md}`,
  );
  return { text: texts.join('\n\n') || 'There are no such messages.', data: { messages } };
}

/** Many long messages would fill an assistant's context. */
function bounded<T extends MessageView>(message: T): T {
  return { ...message, body_md: cut(message.body_md, 8_000) };
}

function reserveText({ granted, conflicts }: ReserveAnswer): Told {
  const refused = conflicts.map(
    ({ path, pattern, holder, expires_at }) => `${path}: ${holder} has ${pattern} until ${expires_at}`,
  );
  const text =
    conflicts.length > 0
      ? ['Nothing was reserved.', ...refused].join('\n')
      : heldText(granted, 'Reserved:', '');
  return { text, data: { granted, conflicts } };
}

function heldText(reservations: readonly ReservationView[], head: string, none: string): string {
  if (reservations.length === 0) return none;
  const lines = reservations.map(
    ({ path, agent_name, expires_at }) => `${path} (${agent_name}, until ${expires_at})`,
  );
  return [...(head ? [head] : []), ...lines].join('\n');
}
