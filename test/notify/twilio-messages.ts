/** Twilio's messages on loopback: sent by POST, listed by GET, newest first. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TwilioMessage {
  sid: string;
  from: string;
  to: string;
  body: string;
  direction: 'inbound' | 'outbound-api';
  date_sent: string;
}

export interface TwilioStandIn extends AsyncDisposable {
  url: string;
  messages: TwilioMessage[];
  readonly sent: TwilioMessage[];
  /** How often it was asked for messages. */
  polls: number;
  /** The next answers to any request; 0: none ever. */
  refusals: (number | { status: number; retryAfter: number })[];
  diesAfterTaking: boolean;
  /** Somebody writes to the number. */
  write(message: { from: string; body: string; agoMs?: number }): TwilioMessage;
}

const ACCOUNT = 'AC00000000000000000000000000000001';
export const TWILIO = { accountSid: ACCOUNT, from: '+15550100', token: 'sms-secret' };

export async function openTwilio(): Promise<TwilioStandIn> {
  let count = 0;
  const sidOf = (): string => `SM${String(++count).padStart(32, '0')}`;
  const authorization = `Basic ${Buffer.from(`${ACCOUNT}:${TWILIO.token}`).toString('base64')}`;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const answer = (status: number, json: object, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(json));
    };
    const refusal = own.refusals.shift();
    if (refusal === 0) return;
    if (typeof refusal === 'number')
      return answer(refusal, { code: 20_000, message: 'Refused', status: refusal });
    if (refusal) {
      const { status, retryAfter } = refusal;
      const body = { code: 20_429, message: 'Too Many Requests', status };
      return answer(status, { ...body, more_info: '' }, { 'retry-after': String(retryAfter) });
    }
    if (request.headers.authorization !== authorization)
      return answer(401, { code: 20_003, message: 'Authenticate', status: 401 });
    const url = new URL(request.url!, own.url);
    if (url.pathname !== `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`)
      return answer(404, { code: 20_404, message: 'Not found', status: 404 });
    if (request.method === 'GET') {
      own.polls += 1;
      const to = url.searchParams.get('To');
      const size = Number(url.searchParams.get('PageSize') ?? 50);
      const found = own.messages.filter((message) => to === null || message.to === to).toReversed();
      const page = { page: 0, page_size: size, next_page_uri: null, uri: request.url };
      return answer(200, { messages: found.slice(0, size), ...page });
    }
    const fields = new URLSearchParams(body);
    const message: TwilioMessage = {
      ...{
        sid: sidOf(),
        from: fields.get('From') ?? '',
        to: fields.get('To') ?? '',
        body: fields.get('Body') ?? '',
      },
      ...{ direction: 'outbound-api', date_sent: new Date().toUTCString() },
    };
    if (!message.to || !message.body || message.body.length > 1600)
      return answer(400, { code: 21_604, message: 'Invalid', status: 400 });
    own.messages.push(message);
    if (own.diesAfterTaking) {
      own.diesAfterTaking = false;
      return request.socket.destroy();
    }
    return answer(201, { ...message, status: 'queued', account_sid: ACCOUNT });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own: TwilioStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ messages: [], polls: 0, refusals: [], diesAfterTaking: false },
    get sent() {
      return own.messages.filter(({ direction }) => direction === 'outbound-api');
    },
    write({ from, body, agoMs = 0 }) {
      const message: TwilioMessage = {
        ...{ sid: sidOf(), from, to: TWILIO.from, body, direction: 'inbound' },
        date_sent: new Date(Date.now() - agoMs).toUTCString(),
      };
      own.messages.push(message);
      return message;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return own;
}
