import { isAbsolute, relative, resolve } from 'node:path';
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';

/** Allows a call once, unless it says that it goes beyond the worktree. Nobody else is there to ask. */
export function answerPermission(
  { toolCall, options }: Pick<RequestPermissionRequest, 'toolCall' | 'options'>,
  worktree: string,
): RequestPermissionResponse {
  const isInside = (toolCall.locations ?? []).every(({ path }) =>
    isWithin(worktree, resolve(worktree, path)),
  );
  const kinds = isInside ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const option = kinds.flatMap((kind) => options.find((each) => each.kind === kind) ?? [])[0];
  return option
    ? { outcome: { outcome: 'selected', optionId: option.optionId } }
    : { outcome: { outcome: 'cancelled' } };
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith('../'));
}
