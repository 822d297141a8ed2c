/** Whom to tell, and how: `notify` of the config. Secrets are named by the variables that hold them, never written there. */
import * as z from 'zod';

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable');
const address = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !/^\w+:\/\/[^/?#]*@/.test(url), 'must hold no name and no password');
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d';
const timeOfDay = z.string().regex(new RegExp(`^${TIME}$`), 'must be a time such as 07:30');
const hours = z
  .string()
  .regex(new RegExp(`^${TIME}-${TIME}$`), 'must be two times such as 22:00-07:00')
  .refine((text) => text.slice(0, 5) !== text.slice(6), 'must not begin and end at the same time');
const zone = z.string().refine(isZone, 'must be a time zone such as Europe/Berlin');

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** An id of a service: numbers are common, and YAML reads them as such. */
const id = z.union([z.string().min(1).max(200), z.int().transform(String)]);
/** Nobody, until somebody pairs. */
const allow = z.array(id).max(1_000).default([]);

/** YAML reads +15550101 as the number 15550101, and what else was in it is gone. */
const phone = z.string('must be in quotes, such as "+15550101"').min(1).max(200);

export const telegramSchema = z.strictObject({
  tokenEnv: variable,
  apiUrl: address.optional(),
  allow,
  /** Told of sessions that name no chat of their own. */
  chat: id.optional(),
  /** A topic for each session, where the chat is a group that has them. */
  topics: z.boolean().optional(),
});

export const smsSchema = z.strictObject({
  accountSid: z.string().regex(/^\w{1,64}$/),
  authTokenEnv: variable,
  from: phone,
  apiUrl: address.optional(),
  allow: z.array(phone).max(1_000).default([]),
  to: phone.optional(),
  /** By default only what needs a person, and the end. */
  events: z.literal('all').optional(),
  /** Without emoji: a message has more than twice the room then. */
  plain: z.boolean().optional(),
});

export const discordSchema = z.strictObject({
  tokenEnv: variable,
  applicationId: id.optional(),
  publicKey: z.string().optional(),
  apiUrl: address.optional(),
  allow,
  channel: id.optional(),
  /** A thread for each session. */
  threads: z.boolean().optional(),
});

export const slackSchema = z.strictObject({
  /** For Socket Mode: begins with xapp-. */
  appTokenEnv: variable,
  /** Begins with xoxb-. */
  botTokenEnv: variable,
  apiUrl: address.optional(),
  allow,
  channel: id.optional(),
});

export const webhookSchema = z.strictObject({ url: address, secretEnv: variable });
export const ntfySchema = z.strictObject({ url: address, tokenEnv: variable.optional() });

export const notifySchema = z.strictObject({
  /** Where the services reach `pulse serve`, if they do. */
  publicUrl: address.optional(),
  /** What a chat may start a session in, by name. */
  projects: z.record(z.string().regex(/^[\w.-]{1,100}$/), z.string().min(1)).optional(),
  telegram: telegramSchema.optional(),
  sms: smsSchema.optional(),
  discord: discordSchema.optional(),
  webhooks: z.array(webhookSchema).max(20).optional(),
  ntfy: ntfySchema.optional(),
  slack: slackSchema.optional(),
  /** On the screen of the machine that runs the session. */
  desktop: z.boolean().optional(),
  /** When only what needs a person is told; the rest waits for the digest. */
  quiet: hours.optional(),
  /** When that is told; without it, as soon as the quiet hours end. */
  digest: timeOfDay.optional(),
  /** Of those times; without it, that of the machine. */
  timezone: zone.optional(),
  /** Many steps in a short time become one message. */
  rollup: z.boolean().optional(),
  /** A finished workflow may be merged from a chat. */
  merge: z.boolean().optional(),
  /** Gets each message as JSON on its standard input. */
  command: z.string().min(1).optional(),
});
export type NotifySettings = z.infer<typeof notifySchema>;
