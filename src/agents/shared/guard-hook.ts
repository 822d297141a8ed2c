/**
 * How an agent's hook asks Pulse's guard (tools/guard) before a tool call. The run's address and token are in files of
 * the run's folder, because some agents hide variables with such names from their hooks. If the guard cannot be
 * reached, the call passes: the guard deters, it is no wall.
 */
import type { RunTools } from '../contract.ts';

/** For agents that start a program for each call. Bash speaks to the endpoint itself: Node would take ten times as long. */
export function guardScript({ url, token }: RunTools, format: string): string {
  const { hostname, port } = new URL(url);
  return `LC_ALL=C
body=$(cat)
exec 3<>/dev/tcp/${hostname}/${port} || exit 0
printf 'POST /guard/${format} HTTP/1.0\\r\\nHost: ${hostname}\\r\\nAuthorization: Bearer ${token}\\r\\nContent-Length: %d\\r\\n\\r\\n%s' "\${#body}" "$body" >&3
while IFS= read -r line <&3 && [ "$line" != $'\\r' ]; do :; done
cat <&3
`;
}

/** For agents that load a module: `reasonAgainst` resolves to the refusal, or to nothing, and `newsAfter` to what is new. */
export function guardModule({ url, token }: RunTools, format: string): string {
  const headers = JSON.stringify({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });
  return `async function askPulse(call) {
  try {
    const request = { method: 'POST', headers: ${headers}, body: JSON.stringify(call) };
    const response = await fetch('${url}/guard/${format}', request);
    return await response.json();
  } catch {
    return {};
  }
}
const reasonAgainst = async (call) => (await askPulse(call)).reason;
const newsAfter = async (call) => (await askPulse({ ...call, hook_event_name: 'PostToolUse' })).news;
`;
}
