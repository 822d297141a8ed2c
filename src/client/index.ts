/** What `pulse-loops/client` offers; docs/client.md shows how it is used. */
export {
  type Call,
  type Client,
  type ClientOptions,
  createClient,
  type LiveOptions,
  type Login,
  PulseApiError,
} from './client.ts';
export type { Operations } from './generated/operations.ts';
export type * from './generated/schemas.ts';
export type { ServerSentEvent } from './server-sent-events.ts';
