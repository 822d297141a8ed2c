/** Whom to tell, and how: `notify` of the config. Secrets are named by the variables that hold them, never written there. */
import * as z from 'zod';

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable');
const address = z
  .url({ protocol: /^https?$/ })
  .refine((url) => !/^\w+:\/\/[^/?#]*@/.test(url), 'must hold no name and no password');
/** An id of a service: numbers are common, and YAML reads them as such. */
const id = z.union([z.string().min(1).max(200), z.int().transform(String)]);
const allow = z.array(id).max(1_000);

export const telegramSchema = z.strictObject({
  tokenEnv: variable,
  apiUrl: address.optional(),
  allow,
  /** Told of sessions that name no chat of their own. */
  chat: id.optional(),
});

export const smsSchema = z.strictObject({
  accountSid: z.string().regex(/^\w{1,64}$/),
  authTokenEnv: variable,
  from: id,
  apiUrl: address.optional(),
  allow,
  to: id.optional(),
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
  /** A finished workflow may be merged from a chat. */
  merge: z.boolean().optional(),
  /** Gets each message as JSON on its standard input. */
  command: z.string().min(1).optional(),
});
export type NotifySettings = z.infer<typeof notifySchema>;

export const CHANNELS = ['telegram', 'sms', 'discord', 'webhook', 'ntfy', 'command'] as const;
export type Channel = (typeof CHANNELS)[number];
