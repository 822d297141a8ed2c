/** Answers the agent's requests for permission, as Pulse's guard (tools/guard) decides. */
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';

type Asked = Pick<RequestPermissionRequest, 'options'>;

/** Without a matching option the call is cancelled. */
export function answerPermission(
  { options }: Asked,
  { isRefused }: { isRefused: boolean },
): RequestPermissionResponse {
  const kinds = isRefused ? ['reject_once', 'reject_always'] : ['allow_once', 'allow_always'];
  const option = kinds.flatMap((kind) => options.find((each) => each.kind === kind) ?? [])[0];
  return option
    ? { outcome: { outcome: 'selected', optionId: option.optionId } }
    : { outcome: { outcome: 'cancelled' } };
}

/** Asks the guard. If it cannot be reached, the call passes (shared/guard-hook.ts). */
export async function isRefusedByGuard(
  toolCall: RequestPermissionRequest['toolCall'],
  { url, token }: { url: string; token: string },
): Promise<boolean> {
  try {
    const response = await fetch(`${url}/guard/acp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(toolCall),
    });
    const answer: unknown = await response.json();
    return response.ok && typeof answer === 'object' && answer !== null && 'reason' in answer;
  } catch {
    return false;
  }
}
