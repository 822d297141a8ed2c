/** For agents that have a shell but no MCP. Agents wait for it, so it loads nothing heavy. */
import { request } from 'node:http';
import { PulseError } from '../../domain/errors.ts';
import type { CommandContext } from '../command-spec.ts';
import { readStdin } from '../stdin.ts';

const TIMEOUT_MS = 10 * 60_000;

export async function run({ input, output, environment }: CommandContext): Promise<number> {
  const { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token } = environment;
  if (!url || !token) {
    throw new PulseError('usage', 'pulse tool works only inside a run of Pulse.', {
      hint: 'Pulse gives its agents PULSE_TOOLS_URL and PULSE_TOOLS_TOKEN; neither is set here.',
    });
  }
  const text = input.argument('JSON') ?? '{}';
  const body = text === '-' ? await readStdin() : text;
  checkJson(body);
  const reply = await call(new URL(`tools/${encodeURIComponent(input.argument('NAME')!)}`, `${url}/`), {
    token,
    body,
  });
  const { ok, output: said, reasons = [], pending, notice } = reply;
  output.json({ ok, output: said, reasons, pending, notice });
  return ok ? 0 : 1;
}

function checkJson(body: string): void {
  try {
    JSON.parse(body);
  } catch (error) {
    throw new PulseError('usage', `The tool's input is not JSON: ${(error as Error).message}`, {
      hint: `For example: pulse tool pulse_signal '{"signal": "CONTINUE"}'`,
    });
  }
}

interface Reply {
  ok: boolean;
  output: unknown;
  reasons?: string[];
  pending?: string;
  notice?: string;
}

async function call(url: URL, { token, body }: { token: string; body: string }): Promise<Reply> {
  const text = await post(url, { token, body }).catch((cause: Error) => {
    throw new PulseError('tool_failed', `The run's tools cannot be reached: ${cause.message}`, {
      hint: 'The run may be over.',
      cause,
    });
  });
  try {
    return JSON.parse(text) as Reply;
  } catch (cause) {
    throw new PulseError('tool_failed', 'The tools answered with something that is not JSON.', { cause });
  }
}

function post(url: URL, { token, body }: { token: string; body: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const call = request(url, { method: 'POST', headers, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      response.on('error', reject);
    });
    call.on('timeout', () => call.destroy(new Error('no answer within 10 minutes')));
    call.on('error', reject);
    call.end(body);
  });
}
