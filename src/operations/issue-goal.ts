/** Where a session's goal comes from, beside the words of the person. */
import type { Config } from '../config.ts';
import { PulseError } from '../domain/errors.ts';
import { type IssueReference, readIssue } from '../project/issue.ts';
import type { StartInput } from './start.ts';

/** What the person says stands first, then the issue. */
export async function withIssue(
  input: StartInput,
  { root, config, environment }: { root: string; config: Config; environment: NodeJS.ProcessEnv },
): Promise<{ input: StartInput; issue: IssueReference | null }> {
  if (input.issue === undefined) {
    if (!input.comment) return { input, issue: null };
    throw new PulseError('usage', 'There is no issue to comment on.', {
      hint: 'Name it with --issue N|URL.',
    });
  }
  const { reference, text } = await readIssue({ issue: input.issue, root, environment });
  const goal = [input.goal.trim(), text].filter(Boolean).join('\n\n');
  const comment = input.comment ?? config.values.issues?.comment ?? false;
  return { input: { ...input, goal }, issue: { ...reference, comment } };
}

/** As it is kept, and told; nothing where the goal is the person's alone. */
export function sourceOf<Issue>({ from }: Pick<StartInput, 'from'>, issue: Issue | null | undefined) {
  return { ...(issue ? { issue } : {}), ...(from === undefined ? {} : { from }) };
}
