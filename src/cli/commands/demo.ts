/** `npm start`: a whole session, live, with a real repository and the built-in agent, in a folder of its own. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DEMO_ANSWER, DEMO_GOAL, DEMO_VERIFY, demoRepositoryFiles } from '../../agents/demo/repository.ts';
import { quoteIfNeeded } from '../../domain/shell-words.ts';
import type { Session } from '../../store/sessions.ts';
import type { CommandContext } from '../command-spec.ts';
import { evidenceReport } from '../evidence-report.ts';
import { followSession } from '../follow/follow.ts';
import { openPulse } from '../open-pulse.ts';
import { createCliGit } from '../repository-here.ts';
import { launchRunner } from '../session-runner.ts';

export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  const folder = await mkdtemp(join(tmpdir(), 'pulse-demo-'));
  const repository = join(folder, 'titles');
  const home = join(folder, 'home');
  const environment = { ...context.environment, PULSE_HOME: home };
  const { style } = output.stderr;
  await makeRepository(repository, environment);
  output.talk(
    style.dim(`A small repository was made in ${repository}. Nothing else on this machine is touched.\n`),
  );

  await using pulse = await openPulse({ environment, output });
  const call = { ...context, environment };
  let { session } = await pulse.start({
    goal: DEMO_GOAL,
    path: repository,
    agent: 'demo',
    verify: [...DEMO_VERIFY],
  });
  let after = 0;
  for (let isAnswered = false; ; isAnswered = true) {
    const admitted = session;
    const launch = (): Promise<void> => launchRunner(pulse, admitted, call);
    const exitCode = await followSession({
      pulse,
      session,
      output,
      cwd: repository,
      after,
      isBrief: true,
      launch,
    });
    session = (await pulse.show(session.id)).session;
    if (session.stop_reason !== 'blocked_by_agent' || isAnswered) {
      if (session.status === 'complete')
        await printNext({ ...call, cwd: folder }, session, await writeReport());
      return exitCode;
    }
    output.talk(
      `\n${style.bold('Answering as you would:')} pulse resume … --answer ${JSON.stringify(DEMO_ANSWER)}\n`,
    );
    for await (const event of pulse.follow(session.id)) after = event.seq;
    session = (await pulse.resume(session.id, { answer: DEMO_ANSWER })).session;
  }

  async function writeReport(): Promise<string> {
    const path = join(folder, 'evidence.md');
    await writeFile(path, evidenceReport(await pulse.export(session.id)));
    return path;
  }
}

async function makeRepository(root: string, environment: NodeJS.ProcessEnv): Promise<void> {
  for (const [name, content] of Object.entries(demoRepositoryFiles())) {
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  const git = createCliGit(environment);
  const identity = ['-c', 'user.name=Pulse demo', '-c', 'user.email=demo@localhost'];
  await git.run(['init', '-q', '-b', 'main'], { cwd: root });
  await git.run(['add', '-A'], { cwd: root });
  await git.run([...identity, 'commit', '-q', '-m', 'A small package whose tests ask for slugify'], {
    cwd: root,
  });
}

async function printNext(
  { output, program, cwd }: CommandContext,
  session: Session,
  report: string,
): Promise<void> {
  if (output.isJson) return;
  const { style } = output.stdout;
  const pulse = `PULSE_HOME=${quoteIfNeeded(join(cwd, 'home'))} node ${quoteIfNeeded(program)}`;
  const row = (label: string, text: string): string => `  ${style.dim(label.padEnd(9))} ${text}`;
  output.data(
    [
      '',
      style.bold('All of this was real: the repository, the worktree, the commits, the verification.'),
      row('diff', `git -C ${quoteIfNeeded(session.project_path)} diff main...${session.branch_name}`),
      row('evidence', report),
      row('check it', `${pulse} verify ${session.id}`),
      row('log', `${pulse} log ${session.id}`),
      row('page', `${pulse} serve, then http://127.0.0.1:3002/s/${session.id}`),
      '',
      style.bold('In a repository of your own:'),
      row('set up', 'pulse init'),
      row('look', 'pulse doctor'),
      row('start', 'pulse start "what should be done" --verify "npm test"'),
      // Installed by npm, it is on the PATH already.
      ...(program.includes('/node_modules/')
        ? []
        : [
            style.dim(
              `  pulse is ${program}; npm link in ${dirname(dirname(program))} puts it on your PATH.`,
            ),
          ]),
    ].join('\n'),
  );
}
