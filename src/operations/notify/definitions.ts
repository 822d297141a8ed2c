/** What can be asked of the notifications. */
import { CHANNELS } from '../../domain/channels.ts';
import { choice, id, integer, path, required, text } from '../fields.ts';
import { define, get, post } from '../operation.ts';

/** Where people can write to Pulse. */
export const CHATS = ['telegram', 'sms', 'discord', 'slack'] as const;
const STATUSES = ['waiting', 'planned', 'gathered', 'sent', 'skipped', 'failed'] as const;

export const list = define({
  name: 'list notifications',
  summary: 'List what people are told, newest first, and what became of it.',
  access: 'read',
  fields: {
    status: choice(STATUSES, { help: 'Only those with this status.' }),
    session: text(40, { help: 'Only those of this session.' }),
    limit: integer({ min: 1, max: 200 }, { help: 'At most so many (50).' }),
    cursor: text(20, {
      help: 'The `nextCursor` of the page before.',
      pattern: { matches: /^[1-9]\d{0,14}$/, says: 'must be a nextCursor' },
    }),
  },
  http: get('/api/notifications', 'A page; `nextCursor` is null on the last one.', {
    defaults: { limit: 50 },
  }),
});

export const retry = define({
  name: 'retry notification',
  summary: 'Try a message again that did not get through.',
  access: 'person',
  isOfProject: true,
  fields: { notificationId: required(id(20, { help: 'Its number.', pathName: 'id' })) },
  http: post('/api/notifications/{id}/retry', 'It waits again.'),
});

export const test = define({
  name: 'test notifications',
  summary: 'Send one message by what the config says.',
  access: 'person',
  isOfProject: true,
  fields: {
    channel: required(choice(CHANNELS, { help: 'By which service.' })),
    projectPath: path({ help: 'The repository whose config holds; without it the own config.' }),
  },
  http: post('/api/notify/test', 'The service has taken it.', { status: 200 }),
});

export const pair = define({
  name: 'pair chat',
  summary: 'Get a code: who sends it from that service within ten minutes may write to Pulse.',
  access: 'person',
  isOfProject: true,
  fields: { channel: required(choice(CHATS, { help: 'By which service.' })) },
  http: post('/api/notify/pair', 'The code, which is good once.', { status: 201 }),
});
