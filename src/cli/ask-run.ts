/** What a command can be told inside a run: by the run's own tools, for its environment does not name the state directory. */
import { PulseError } from '../domain/errors.ts';
import { isRunWithoutStore } from '../home.ts';

const NO_SUCH_TOOL = 404;

export interface RunAnswer {
  ok: boolean;
  output: unknown;
  reasons?: string[];
}

/** `null`: this is no run, or it has no such tool. Throws `tool_failed`. */
export async function askRunTool(
  { PULSE_TOOLS_URL: url, PULSE_TOOLS_TOKEN: token }: NodeJS.ProcessEnv,
  tool: string,
  input: object,
): Promise<RunAnswer | null> {
  if (!url || !token) return null;
  const response = await fetch(`${url}/tools/${tool}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  }).catch((cause: Error) => {
    throw new PulseError('tool_failed', `The run's tools cannot be reached: ${cause.message}`, { cause });
  });
  return response.status === NO_SUCH_TOOL ? null : ((await response.json()) as RunAnswer);
}

/** As `askRunTool`, for what is refused in words. Throws `invalid_transition`. */
export async function readFromRun<T>(
  environment: NodeJS.ProcessEnv,
  tool: string,
  input: object,
): Promise<T | null> {
  const reply = await askRunTool(environment, tool, input);
  if (reply === null || reply.ok) return reply && (reply.output as T);
  throw new PulseError('invalid_transition', 'The run does not answer that.', {
    hint: [...new Set([String(reply.output), ...(reply.reasons ?? [])])].join(' '),
  });
}

/** Of what no tool of the run answers: another store must not be asked instead. A store that is named is another thing. */
export function refuseUnasked(command: string, environment: NodeJS.ProcessEnv): void {
  if (!isRunWithoutStore(environment)) return;
  throw new PulseError('inside_run', `pulse ${command} is not answered inside this run.`, {
    hint: "A run has no way to the state directory. Use the tools of the run: pulse tool NAME 'JSON'.",
  });
}
