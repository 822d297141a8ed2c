/** The process behind `acp`: starts the program that was named, talks to it, and prints what it says as events. */
import { text } from 'node:stream/consumers';
import { printEvent } from '../shared/print-event.ts';
import { type AcpEnd, converse } from './conversation.ts';

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

// An answer outside of the protocol can throw where nothing catches it.
process.once('uncaughtException', (error) => over({ ok: false, failure: 'crashed', message: error.message }));

const end = await run(process.env, process.argv[2] ?? '').catch(
  (error: Error): AcpEnd => ({ ok: false, failure: 'crashed', message: error.message }),
);
over(end);

/** The program may ignore the end of its input: the host ends every process that is left of the run. */
function over(how: AcpEnd): never {
  printEvent({ type: 'done', ...how });
  process.exit(how.ok ? 0 : 1);
}

async function run(environment: NodeJS.ProcessEnv, command: string): Promise<AcpEnd> {
  const { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token } = environment;
  if (!url || !token) throw new Error('acp works only in a run of Pulse: PULSE_TOOLS_URL is not set.');
  const brief = await text(process.stdin);
  const cwd = process.cwd();
  return converse({ command, cwd, brief, tools: { url, token }, print: printEvent, signal: stop.signal });
}
