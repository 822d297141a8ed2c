/** An issue of GitHub as a goal, read through `gh`. */
import * as z from 'zod';
import { PulseError } from '../domain/errors.ts';
import { runGh } from '../process/gh.ts';

/** What a session keeps of the issue that it came from. */
export interface IssueReference {
  number: number;
  title: string;
  url: string;
  /** It is commented on when the session is complete. */
  comment: boolean;
}

const answerSchema = z.object({
  number: z.int().positive(),
  title: z.string().max(10_000),
  body: z.string().nullable(),
  url: z.url({ protocol: /^https?$/ }).max(2_000),
});

export interface IssueRequest {
  /** A number of the repository's own, or an address. */
  issue: string;
  root: string;
  environment: NodeJS.ProcessEnv;
}

/** Throws `invalid_input` for what is no issue of GitHub's and where gh is missing, `tool_failed` where gh says no. */
export async function readIssue({ issue, root, environment }: IssueRequest): Promise<{
  reference: Omit<IssueReference, 'comment'>;
  text: string;
}> {
  const name = issueName(issue.trim(), environment);
  const args = ['issue', 'view', name, '--json', 'number,title,body,url'];
  const answer = await runGh({ args, cwd: root, environment });
  if (!answer) {
    throw new PulseError('invalid_input', 'The issue cannot be read: gh is not installed.', {
      hint: 'Install it (https://cli.github.com) and `gh auth login`, or save the text: pulse start --from FILE',
    });
  }
  if (answer.code !== 0) {
    const said = answer.stderr.trim().slice(-500);
    throw new PulseError(
      'tool_failed',
      `gh could not read the issue ${name}: ${said || 'it does not say why'}`,
      {
        hint: '`gh auth status` tells whether you are logged in. --from FILE takes the text from a file.',
      },
    );
  }
  const { number, title, body, url } = parseAnswer(answer.stdout);
  const head = `${title.trim()} (#${number})`;
  return { reference: { number, title, url }, text: [head, body?.trim()].filter(Boolean).join('\n\n') };
}

function parseAnswer(text: string): z.infer<typeof answerSchema> {
  try {
    return answerSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new PulseError('tool_failed', 'gh answered with something that is no issue.', { cause });
  }
}

const ADDRESS = /^https:\/\/([\w.-]+)\/[\w.-]+\/[\w.-]+\/issues\/(\d{1,9})\/?(?:[?#].*)?$/;

/** As gh takes it: nothing that it could take for an option. */
function issueName(issue: string, environment: NodeJS.ProcessEnv): string {
  const own = /^#?(\d{1,9})$/.exec(issue)?.[1];
  if (own !== undefined && Number(own) > 0) return own;
  const address = ADDRESS.exec(issue);
  if (!address) {
    throw new PulseError('invalid_input', `"${issue}" is no issue.`, {
      hint: 'Give its number, such as 12, or its address: https://github.com/OWNER/REPOSITORY/issues/12',
    });
  }
  const host = address[1]!.toLowerCase();
  if (host !== 'github.com' && host !== environment.GH_HOST?.toLowerCase()) {
    throw new PulseError(
      'invalid_input',
      `The issue is on ${host}: Pulse reads those of GitHub, through gh.`,
      {
        hint: 'Save its text: pulse start --from FILE. For a GitHub of your own set GH_HOST.',
      },
    );
  }
  return issue.replace(/[?#].*$/, '');
}
