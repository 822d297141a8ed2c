/** Messages and reservations as they are answered; the compiler holds the operations to these schemas. */
import * as z from 'zod';
import { time } from '../../operations/session/view-schema.ts';
import { IMPORTANCES } from '../bounds.ts';

const message = {
  id: z.string(),
  thread_id: z.string(),
  topic: z.string().nullable(),
  sender_name: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  body_md: z.string(),
  importance: z.enum(IMPORTANCES),
  ack_required: z.boolean(),
  reply_to: z.string().nullable(),
  created_at: time,
  acks: z.array(z.object({ agent_name: z.string(), at: time })),
};

const Message = z.object(message).meta({ id: 'MailMessage' });
const Listed = z
  .object({
    ...message,
    acked_at: time
      .nullable()
      .optional()
      .meta({ description: 'Of an inbox: when its owner acknowledged it.' }),
  })
  .meta({ id: 'ListedMailMessage' });

const Reservation = z
  .object({
    id: z.string(),
    agent_name: z.string(),
    path: z.string(),
    exclusive: z.boolean(),
    reason: z.string().nullable(),
    fence: z.int(),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'Reservation' });

export const Conflict = z.object({
  path: z.string(),
  pattern: z.string(),
  holder: z.string(),
  expires_at: time,
});

export const AgentAnswer = z.object({ agent: z.object({ name: z.string() }) });
export const MessageAnswer = z.object({ message: Message });
export const MessagesAnswer = z.object({ messages: z.array(Listed) });
export const ReserveAnswer = z.object({ granted: z.array(Reservation), conflicts: z.array(Conflict) });
export const ReleaseAnswer = z.object({ released: z.array(Reservation) });
export const ReservationsAnswer = z.object({ reservations: z.array(Reservation) });
export const EndAnswer = z.object({ reservation: Reservation.nullable() });
