/** Each command that a text of Pulse names is run here as it is printed, in a place where it would be. */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { namedCommands } from '../fakes/named-commands.ts';
import { OWN_NODE, PROGRAM, until, useScene } from './scene.ts';

const scene = useScene();

/** As the source has them; `{}` is filled in by Pulse, what is in capitals by a person. */
const ANYWHERE = [
  'pulse help',
  'pulse help COMMAND',
  'pulse help {}',
  'pulse doctor',
  'pulse config',
  'pulse init',
  'pulse init --force',
  'pulse trust --yes',
  'pulse trust --path {}',
  'pulse start "…"',
  'pulse start "what should be done"',
  'pulse start "what should be done" --verify "npm test"',
  'pulse start "…" --command "./your-agent.sh"',
  'pulse start "…" --trust',
  'pulse start "Implement user auth" --verify "npm test"',
  'pulse start "Fix the flaky tests" --command "./my-agent.sh" --max-iterations 5',
  'pulse start "Port the CLI" --budget-usd 25 --detach',
  'pulse list',
  'pulse list --status blocked',
  'pulse list --status failed',
  'pulse list --status running',
  'pulse status',
  'pulse session-names 2>/dev/null',
  'pulse session-names workflow 2>/dev/null',
  "pulse schedule list --all 2>/dev/null | awk '/^[^ ]/ {print $1}'",
  'pulse completion bash',
  'pulse completion fish > ~/.config/fish/completions/pulse.fish',
  'pulse signal < message.md',
  'pulse mcp',
  'pulse key',
  'pulse key --export pulse-key.pem',
  'pulse key rotate',
] as const;
const ENDED = [
  'pulse status {}',
  'pulse status last',
  'pulse watch {}',
  'pulse verify {}',
  'pulse verify last',
  'pulse log {}',
  'pulse log 3f2c --iteration 2',
  'pulse export {} --format md',
  'pulse export 3f2c --format md',
  'pulse export 3f2c --output evidence.html',
] as const;
/** Each goes on with a session that asks. */
const ASKING = [
  'pulse resume {}',
  'pulse resume ID',
  'pulse resume … --answer {}',
  'pulse resume last --answer "Use bcrypt."',
  'pulse resume 3f2c --answer "Use bcrypt."',
  'pulse resume 3f2c --max-iterations 20',
  'pulse resume last --setup "npm install"',
  'pulse note 3f2c "Port 8080." --answer',
  'pulse note {} "…"',
  'pulse note last "Leave the public API as it is."',
  'pulse note ID "what the agent should know"',
] as const;
const RUNNING = ['pulse watch {}', 'pulse pause {}', 'pulse abort {}'] as const;
const SERVING = [
  'pulse serve',
  'pulse serve --adopt',
  'pulse serve --host ADDRESS',
  'pulse serve --port 4000 --adopt',
  'pulse daemon --labels linux',
  'pulse daemon --labels linux,gpu',
] as const;
const WORKFLOW = {
  start: ['pulse workflow start PLAN', 'pulse workflow start plan.yaml --yes'],
  approve: ['pulse workflow approve {}', 'pulse workflow approve 3f2c'],
  show: ['pulse workflow show {}'],
  review: [
    'pulse workflow review {} --approve',
    'pulse workflow review {} --approve --merge {}',
    'pulse workflow review {} --approve --merge merge',
    'pulse workflow review 3f2c --approve --merge squash',
    'pulse workflow review 3f2c --reject "The error message names no file."',
  ],
} as const;
const RESEARCH = [
  'pulse research start FILE',
  'pulse research start research.yaml --iterations 20',
  'pulse research start research.yaml --iterations 60 --parallel 3',
  'pulse research show 3f2c',
  'pulse research report {}',
  'pulse research report 3f2c --output report.html',
  'pulse research finish {} --done',
] as const;
const COORDINATION = [
  'pulse mail register Fox',
  'pulse mail register NAME',
  'pulse mail send --from Fox --to Owl --subject "Ready" --body "The parser is done." --topic epic-7',
  'pulse mail inbox --as Owl',
  'pulse mail inbox --as NAME',
  'pulse mail search parser done',
  'pulse reserve src/parser.ts "test/**/parser*" --as Fox --ttl 2h',
  'pulse reserve src/parser.ts --as Fox',
  'pulse reserve README.md --as Owl --shared',
  'pulse reserve --list',
  'pulse release src/parser.ts --as Fox',
  'pulse release --as Fox',
] as const;
const BEADS = [
  'pulse bead create',
  'pulse bead create --title "Parse dates" --file src/dates.ts --verify "npm test" --priority 1',
  'pulse bead list',
  'pulse bead next --why',
  'pulse bead update',
  'pulse bead close',
  'pulse bead close shop-1a2b --reason "Completed: dates are parsed"',
  'pulse bead scope {} {}',
  'pulse bead import .beads/issues.jsonl',
  'pulse bead plan "Dates can be entered in words"',
  'pulse bead import {}',
  'pulse bead update {} --status open',
  'pulse bead update ID --red CMD --green CMD --red-expect TEXT',
  'pulse bead export FILE',
] as const;
const SWARM = [
  'pulse swarm start --epic app-1 --workers 4',
  'pulse swarm start --epic app-1 --standalone',
  'pulse swarm show last',
] as const;
/** The first is stopped by the second. */
const STOPPED_SWARM = ['pulse swarm start --epic E', 'pulse swarm stop 3f2c'] as const;
const IN_A_RUN = [
  `pulse tool pulse_signal '{"signal": "CONTINUE"}'`,
  `pulse tool pulse_signal '{"signal": "COMPLETE"}'`,
  `pulse tool pulse_signal '{"signal":"BLOCKED","reason":"…"}'`,
] as const;

/** What comes of words that are not understood, and the hint that is given. */
const MISTAKEN = {
  'pulse {}': ['pulse statu', 'pulse status'],
  'pulse {} "{}"': ['pulse start Do it "so well"', `pulse start "Do it so well"`],
} as const;

/** Run as printed by other tests. */
const ELSEWHERE = {
  'pulse workflow show {} --out plan.yaml': 'test/e2e/workflow.test.ts',
  'pulse workflow approve {} --plan {}': 'test/e2e/workflow.test.ts',
  'pulse status --json': 'test/e2e/onboarding.test.ts',
  'pulse checks ID': 'test/e2e/changed-checks.test.ts',
  'pulse checks last': 'test/e2e/changed-checks.test.ts',
  'pulse doctor {}': 'test/e2e/judged.test.ts',
  'pulse checks {}': 'test/e2e/judged.test.ts',
  'pulse reject {} "…"': 'test/e2e/judged.test.ts',
  'pulse resume {} --{} CMD': 'test/e2e/judged.test.ts',
  'pulse accept {}': 'test/e2e/changed-checks.test.ts',
  'pulse accept last': 'test/e2e/changed-checks.test.ts',
  'pulse reject last "Keep the old snapshot; the header must not change."': 'test/e2e/changed-checks.test.ts',
  'pulse context import': 'test/context/commands.test.ts',
  'pulse context search "refresh token"': 'test/context/commands.test.ts',
  'pulse context turns': 'test/context/commands.test.ts',
  'pulse context turns --json': 'test/context/commands.test.ts',
  'pulse notify test telegram': 'test/e2e/notify.test.ts',
  'pulse notify pair telegram': 'test/e2e/notify.test.ts',
  'pulse trust': 'test/e2e/trust.test.ts, at a terminal',
  'pulse resume {} {}': 'test/e2e/hints.test.ts, after each limit',
  'pulse key --export FILE': 'test/e2e/proof.test.ts',
  'pulse verify HEAD --key pulse-key.pem': 'test/e2e/proof.test.ts',
  'pulse verify origin/main..HEAD': 'test/e2e/proof.test.ts, in the job',
  'pulse {} {}': 'test/research-loop/parallel.test.ts, the same command for the one it works for',
  'pulse workflow stop {}': 'test/e2e/workflow.test.ts',
  'pulse workflow extension {} --approve': 'test/e2e/workflow.test.ts',
  'pulse tool pulse_done \'{"summary":"…","filesChanged":["…"]}\'': 'test/e2e/workflow.test.ts',
  'pulse tool bead_done \'{"summary":"…","decisions":[],"followUps":[]}\'': 'test/beads/worker.test.ts',
  "pulse tool NAME 'JSON'": 'test/e2e/tool.test.ts',
  'pulse tool propose_plan \'{"plan": …}\'': 'test/workflow/plan-edits.test.ts',
  'pulse tool propose_beads \'{"draft": …}\'': 'test/beads/plan.test.ts',
  'pulse tool experiment_describe \'{"description":"…"}\'': 'test/research-loop/session.test.ts',
};

/** Not run as printed: what they do is tested by these, without a shell in between. */
const IN_PROCESS = {
  'pulse merge {}': 'test/operations/merge.test.ts',
  'pulse merge {} --merge {}': 'test/operations/merge.test.ts',
  'pulse merge last': 'test/operations/merge.test.ts',
  'pulse merge 3f2c --merge squash': 'test/operations/merge.test.ts',
  'pulse merge 3f2c --merge pr': 'test/operations/watch-pull-requests.test.ts',
  'pulse discard last': 'test/operations/discard.test.ts',
  'pulse discard 3f2c --yes': 'test/operations/discard.test.ts',
  'pulse discard {} --yes': 'test/operations/discard.test.ts',
  'pulse discard {} again': 'test/operations/discard.test.ts',
  'pulse follow {} "…"': 'test/operations/follow.test.ts',
  'pulse follow last "Also cover the empty list."': 'test/operations/follow.test.ts',
  'pulse follow 3f2c "Rename the flag." --detach': 'test/operations/follow.test.ts',
  'pulse clean': 'test/operations/clean.test.ts',
  'pulse clean --yes': 'test/operations/clean.test.ts',
  'pulse clean --older-than 7d --yes': 'test/operations/clean.test.ts',
  'pulse clean --older-than 0s': 'test/operations/clean.test.ts',
  'pulse context code "where is a lease renewed"': 'test/context/commands.test.ts',
  'pulse open': 'test/api/login.test.ts',
  'pulse open {}': 'test/api/login.test.ts',
  'pulse open last': 'test/api/login.test.ts',
  'pulse open --read': 'test/api/login.test.ts',
  'pulse open --devices': 'test/api/login.test.ts',
  'pulse notify pair discord': 'test/notify/chat.test.ts',
  'pulse schedule add "0 22 * * mon-fri" -- start "Fix the flaky tests" --verify "npm test"':
    'test/operations/schedule.test.ts',
  'pulse schedule add "in 2h" -- start GOAL': 'test/operations/schedule.test.ts',
  'pulse schedule add "in 2h" -- workflow start plan.yaml --yes': 'test/operations/schedule.test.ts',
  'pulse schedule list': 'test/operations/schedule.test.ts',
  'pulse schedule remove 3f2c': 'test/operations/schedule.test.ts',
  'pulse service install': 'test/cli/unit-file.test.ts',
  'pulse service remove': 'test/cli/unit-file.test.ts',
  'pulse start --from FILE': 'test/operations/issue.test.ts',
  'pulse start --from task.md': 'test/operations/issue.test.ts',
  'pulse start --issue 42 --verify "npm test" --comment': 'test/operations/issue.test.ts',
  'pulse start "GOAL"': 'test/e2e/start.test.ts',
  'pulse status ID': 'test/e2e/commands.test.ts',
  'pulse swarm stop {}': 'test/beads/one-swarm.test.ts',
  'pulse tool NAME \'{"query":"…"}\'': 'test/engine/context-strategies.test.ts',
};

/** Sentences about a command, or about a pulse of a workflow. */
const SENTENCES = [
  'pulse schedule add needs',
  'pulse schedule list takes',
  'pulse schedule remove needs',
  'pulse schedule remove takes',
  'pulse start needs GOAL',
  'pulse verify {}</code>',
  'pulse {} -->',
  'pulse release, or after its time',
  'pulse mail {} needs',
  'pulse mail {} does not know',
  'pulse reserve needs',
  'pulse context {} needs',
  'pulse context {} does not know',
  'pulse swarm reassign needs',
  'pulse bead {} needs',
  'pulse bead {} does not know',
  'pulse tool works only inside a run',
  'pulse resume starts it again',
  'pulse workflow {} does not take',
  'pulse {} needs one of',
  'pulse {} is for people',
  'pulse {} has no option',
  'pulse {} needs {}',
  'pulse {} does not know',
  'pulse {} of {}',
  'pulse {} {}{}:',
  'pulse {}.',
  'pulse {} has no diff',
  'pulse {} is no longer',
];

const KNOWN = [
  ...[...ANYWHERE, ...ENDED, ...ASKING, ...RUNNING, ...SERVING, ...RESEARCH, ...IN_A_RUN],
  ...[...COORDINATION, ...BEADS, ...SWARM, ...STOPPED_SWARM],
  ...Object.values(WORKFLOW).flat(),
  ...Object.keys(MISTAKEN),
  ...Object.keys(ELSEWHERE),
  ...Object.keys(IN_PROCESS),
];

const named = namedCommands();

describe('the commands that texts name', () => {
  it('are all in the lists above', async () => {
    const unknown = (await named).filter(({ text }) => !isKnown(text));
    expect(unknown).toEqual([]);
  });

  it('are run by tests that are there', () => {
    const files = [...Object.values(ELSEWHERE), ...Object.values(IN_PROCESS)].map(
      (where) => where.split(',')[0]!,
    );
    for (const file of files) expect(existsSync(join(import.meta.dirname, '../..', file)), file).toBe(true);
  });

  it('are all still named somewhere', async () => {
    const texts = (await named).map(({ text }) => text);
    const isNamed = (known: string) => texts.some((text) => longest(text) === known);
    expect(KNOWN.filter((known) => !isNamed(known))).toEqual([]);
    expect(SENTENCES.filter((known) => !texts.some((text) => text.startsWith(known)))).toEqual([]);
  });
});

function isKnown(text: string): boolean {
  if (SENTENCES.some((sentence) => text.startsWith(sentence))) return true;
  const command = longest(text);
  // What follows is prose: no further option or word of the command.
  return command !== undefined && /^(?:$|[.,;:)]| [a-z])/.test(text.slice(command.length));
}

function longest(text: string): string | undefined {
  return KNOWN.filter((known) => text.startsWith(known)).sort((a, b) => b.length - a.length)[0];
}

describe('as printed', () => {
  it('anywhere', async () => {
    await project('echo x >> x.txt; echo "<signal>COMPLETE</signal>"');
    for (const command of ANYWHERE) await works(command);
  }, 120_000);

  it('after a mistake', async () => {
    await project('echo "<signal>COMPLETE</signal>"');
    for (const [mistake, hint] of Object.values(MISTAKEN)) {
      const { code, text } = await run(mistake).ended;
      expect(code).toBe(2);
      expect(/^hint: .*?(pulse .*)$/m.exec(text)?.[1], text).toBe(hint);
      await works(hint);
    }
  }, 60_000);

  it('of a session that has ended', async () => {
    await project(
      'if [ -e x.txt ]; then echo "<signal>COMPLETE</signal>"; else echo x > x.txt; echo "<signal>CONTINUE</signal>"; fi',
    );
    const id = sessionIn(await works('pulse start "what should be done" --verify "npm test"'));
    for (const command of ENDED) await works(command, id);
  }, 60_000);

  it('of a session that asks', async () => {
    await project('echo "<signal>BLOCKED: Which port?</signal>"');
    const id = sessionIn(await works('pulse start "…"'));
    for (const command of ASKING) await works(command, id);
  }, 90_000);

  it('of a session that runs', async () => {
    const go = join(scene.directory, 'go');
    await project(`while [ ! -e ${go} ]; do sleep 0.1; done; echo "<signal>CONTINUE</signal>"`);
    const id = sessionIn(await works('pulse start "Port the CLI" --budget-usd 25 --detach'));
    const watching = works('pulse watch {}', id);
    await works('pulse pause {}', id);
    writeFileSync(go, '');
    await watching;
    await works('pulse abort {}', id);
    expect(RUNNING).toHaveLength(3);
  }, 60_000);

  it.each(SERVING)(
    '%s',
    async (command) => {
      await project('true');
      const { child, ended, output } = run(filled(command, ''));
      // Another program may have the port: that is no fault of the command.
      await until(`${command} is ready`, () => /listening|http:|ready|takes|in use/i.test(output()));
      process.kill(-child.pid!, 'SIGTERM');
      const { text } = await ended;
      expect(text).not.toMatch(/^error: (?!.*in use)/m);
    },
    60_000,
  );

  it('of a workflow', async () => {
    await project(`name=$(date +%s%N).txt; echo x > $name
pulse tool pulse_done "{\\"summary\\": \\"feat: x\\", \\"filesChanged\\": [\\"$name\\"]}" > /dev/null`);
    const [first, second] = WORKFLOW.start;
    const [byName, byEnd] = WORKFLOW.approve;
    const [approve, mergeAs, merge, squash, reject] = WORKFLOW.review;
    const stories: [string, ...string[]][] = [
      [first, ...WORKFLOW.show, byName, approve],
      [second, reject, squash],
      [first, byEnd, mergeAs],
      [second, merge],
    ];
    for (const [start, ...rest] of stories) {
      const id = sessionIn(await works(start));
      for (const command of rest) await works(command, id);
    }
  }, 180_000);

  it('of research', async () => {
    await project('echo "Take one off, $PULSE_UNIT"; echo $(($(cat cost) - 1)) > cost');
    const [start, twenty, parallel, ...looks] = RESEARCH;
    for (const command of [start, parallel]) {
      const { ended, output } = run(filled(command, ''));
      await until('the session is named', () => /ses_[\w-]+/.test(output()));
      await works('pulse abort {}', sessionIn(output()));
      expect((await ended).text).not.toMatch(/^error:/m);
    }
    const id = sessionIn(await works(twenty));
    for (const command of looks) await works(command, id);
  }, 180_000);

  it('of mail, reservations and beads', async () => {
    const draft = {
      epic: { id: 'plan', title: 'A plan' },
      beads: [{ id: 'plan-1', title: 'A bead', files: ['x'], verify: ['true'] }],
    };
    await project(`pulse tool propose_beads '${JSON.stringify({ draft })}'`);
    for (const command of COORDINATION) await works(command);
    await works('pulse bead create --id shop-1a2b --title "Another" --file a.txt --verify true');
    await works('pulse bead create --id shop-3c4d --title "A third" --file b.txt --verify true');
    const issue = { id: 'imp-1', title: 'Imported', status: 'open', priority: 2, issue_type: 'task' };
    mkdirSync(join(scene.repository, '.beads'));
    writeFileSync(join(scene.repository, '.beads/issues.jsonl'), `${JSON.stringify(issue)}\n`);
    for (const command of BEADS) await works(command);
  }, 120_000);

  it('of a swarm', async () => {
    const go = join(scene.directory, 'go');
    await project(
      `[ $PULSE_UNIT = slow ] && while [ ! -e ${go} ]; do sleep 0.1; done; echo x > $PULSE_UNIT.txt; echo "Wrote it"`,
    );
    await works('pulse init');
    for (const id of ['app-1', 'app-2']) await works(`pulse bead create --id ${id} --type epic --title App`);
    const bead = (id: string, epic: string) =>
      works(`pulse bead create --id ${id} --epic ${epic} --title W --file ${id}.txt --verify true`);
    for (const [index, command] of SWARM.entries()) {
      if (command.includes('start')) await bead(`quick-${index}`, 'app-1');
      await works(command);
    }
    await bead('slow', 'app-2');
    const [start, stop] = STOPPED_SWARM;
    const { ended, output } = run(filled(start, ''));
    await until('the bead is taken', () => /takes slow/.test(output()));
    await works(stop, sessionIn(output()));
    expect((await ended).text).not.toMatch(/^error:/m);
  }, 120_000);

  it('in a run', async () => {
    const said = join(scene.directory, 'said');
    const calls = IN_A_RUN.map((command) => `${command} >> ${said} 2>&1; echo "exit $?" >> ${said}`);
    await project(calls.join('\n'));
    await works('pulse start "…"');
    const exits = readFileSync(said, 'utf8').match(/^exit \d+$/gm);
    expect(exits).toEqual(IN_A_RUN.map(() => 'exit 0'));
  }, 60_000);
});

/** A repository with what the commands speak of, and an agent that is set for all sessions. */
async function project(agent: string): Promise<void> {
  const here = (name: string) => join(scene.repository, name);
  const script = scene.agent(agent);
  for (const name of ['my-agent.sh', 'your-agent.sh'])
    writeFileSync(here(name), `#!/bin/sh\nexec ${script}\n`, { mode: 0o755 });
  writeFileSync(here('package.json'), JSON.stringify({ name: 'p', scripts: { test: 'true' } }));
  writeFileSync(here('cost'), '1000\n');
  scene.git('add', '-A');
  scene.git('commit', '-q', '-m', 'what the commands speak of');
  appendFileSync(
    here('.git/info/exclude'),
    `${['/plan.yaml', '/research.yaml', '/message.md', '/.pulse'].join('\n')}\n`,
  );
  const pulses = [{ id: 'x', title: 'x', description: 'Make x.' }];
  writeFileSync(here('plan.yaml'), stringify({ title: 'X', pulses, preflight: [], verify: [] }));
  const metric = { name: 'cost', direction: 'lower', verifyCommand: 'cat cost' };
  writeFileSync(here('research.yaml'), stringify({ goal: 'Less', metric, scope: { inScope: ['cost'] } }));
  writeFileSync(here('message.md'), '<signal>COMPLETE</signal>\n');
  mkdirSync(join(scene.directory, '.config/pulse'), { recursive: true });
  writeFileSync(join(scene.directory, '.config/pulse/config.yaml'), stringify({ command: script }));
  mkdirSync(join(scene.directory, '.config/fish/completions'), { recursive: true });
  mkdirSync(join(scene.directory, 'bin'));
  const shim = join(scene.directory, 'bin/pulse');
  writeFileSync(shim, `#!/bin/sh\nexec '${OWN_NODE}' '${PROGRAM}' "$@"\n`, { mode: 0o755 });
}

/** What Pulse or a person puts in the places that are left open; a session's name in all others. */
const FILLED: Record<string, string> = {
  'pulse help {}': 'pulse help start',
  'pulse help COMMAND': 'pulse help resume',
  'pulse resume … --answer {}': 'pulse resume {} --answer "Use bcrypt."',
  'pulse trust --path {}': 'pulse trust --path .',
  'pulse serve --host ADDRESS': 'pulse serve --host 127.0.0.1',
  'pulse workflow start PLAN': 'pulse workflow start plan.yaml',
  'pulse workflow review {} --approve --merge {}': 'pulse workflow review {} --approve --merge merge',
  'pulse research start FILE': 'pulse research start research.yaml',
  'pulse mail register NAME': 'pulse mail register Owl',
  'pulse mail inbox --as NAME': 'pulse mail inbox --as Owl',
  'pulse bead create': 'pulse bead create --title "A bead"',
  'pulse bead update': 'pulse bead update shop-1a2b --priority 0',
  'pulse bead close': 'pulse bead close shop-3c4d --reason done',
  'pulse bead scope {} {}': 'pulse bead scope shop-1a2b --add c.txt',
  'pulse bead import {}': 'pulse bead import .pulse/plans/*.yaml',
  'pulse bead update {} --status open': 'pulse bead update shop-1a2b --status open',
  'pulse bead update ID --red CMD --green CMD --red-expect TEXT':
    'pulse bead update shop-1a2b --red false --green true --red-expect "not yet"',
  'pulse bead export FILE': 'pulse bead export beads.jsonl',
  'pulse swarm start --epic E': 'pulse swarm start --epic app-2',
};

function filled(command: string, id: string): string {
  return (FILLED[command] ?? command).replace(/\{\}|\bID\b/, id).replace('3f2c', id.slice(-12));
}

/** Neither refused nor misunderstood; a session may well stop again. Returns what was printed. */
async function works(command: string, id = ''): Promise<string> {
  const { code, text } = await run(filled(command, id)).ended;
  expect(code, `${command}\n${text}`).not.toBe(2);
  expect(text, command).not.toMatch(/^error:/m);
  return text;
}

function sessionIn(text: string): string {
  return /ses_[0-9a-f-]+/.exec(text)![0];
}

function run(line: string) {
  const child = spawn('/bin/sh', ['-c', line], {
    cwd: scene.repository,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${join(scene.directory, 'bin')}:${process.env.PATH}`,
      HOME: scene.directory,
      PULSE_HOME: scene.home,
    },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = new Promise<{ code: number | null; text: string }>((done) =>
    child.on('close', (code) => done({ code, text })),
  );
  return { child, ended, output: () => text };
}
