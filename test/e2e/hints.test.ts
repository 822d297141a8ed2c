/** A hint printed is a hint that works: each is run as it stands on the screen. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { resultBlock } from '../../src/cli/follow/result.ts';
import { parseCommand } from '../../src/cli/parser.ts';
import { STOP_REASONS, type StoppedStatus, type StopReason } from '../../src/domain/status.ts';
import { createPulse } from '../../src/pulse.ts';
import { openSqlite } from '../../src/store/open-sqlite.ts';
import { createStyle } from '../../src/terminal/style.ts';
import { OWN_NODE, PROGRAM, useScene } from './scene.ts';

const scene = useScene();

/** Every line of this text that is a command of Pulse, without what stands before it. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/^\s*(?:[a-z ]+ {2,}|hint: )?(pulse .+)$/gm)].map(([, command]) => command!);
}

function asPrinted(command: string): { status: number | null; output: string } {
  const bin = join(scene.directory, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'pulse'), `#!/bin/sh\nexec '${OWN_NODE}' '${PROGRAM}' "$@"\n`, { mode: 0o755 });
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
    cwd: scene.repository,
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: scene.directory, PULSE_HOME: scene.home },
  });
  return { status, output: stdout + stderr };
}

describe('what is printed under a session that stopped', () => {
  it('works as printed, also where a limit was overrun', async () => {
    const again = join(scene.directory, 'again');
    const agent = scene.agent(`[ -e ${again} ] && { echo "<signal>BLOCKED: Which port?</signal>"; exit 0; }
touch ${again}; pulse tool report_usage '{"costUsd": 4.4}' > used.json; echo "<signal>CONTINUE</signal>"`);
    const { stdout } = await scene.pulse(['start', 'Go', '--command', agent, '--budget-usd', '2']);
    const printed = commandsIn(stdout);
    expect(printed.length, stdout).toBeGreaterThanOrEqual(3);
    expect(commandsIn((await scene.pulse(['status'])).stdout)).toContain(printed[0]);
    for (const command of printed.toReversed()) {
      const { status, output } = asPrinted(command);
      expect(status, `${command}\n${output}`).not.toBe(2);
      expect(output, command).not.toMatch(/^error:/m);
    }
  }, 60_000);

  it('leads a workflow from its plan to its merge', async () => {
    const agent = scene.agent(
      `echo x > x.txt; pulse tool pulse_done '{"summary": "feat: x", "filesChanged": ["x.txt"]}' > /dev/null`,
    );
    const plan = join(scene.directory, 'plan.json');
    const pulses = [{ id: 'x', title: 'x', description: 'Make x.' }];
    writeFileSync(plan, JSON.stringify({ title: 'X', pulses, preflight: [], verify: [] }));
    const { stdout } = await scene.pulse(['workflow', 'start', plan, '--command', agent]);
    const [approve] = commandsIn(stdout);
    expect(approve).toMatch(/^pulse workflow approve ses_/);
    const approved = asPrinted(approve!);
    const [review] = commandsIn(approved.output);
    expect(review, approved.output).toMatch(/^pulse workflow review ses_\S+ --approve$/);
    expect(asPrinted(review!)).toMatchObject({ status: 0, output: expect.stringContaining('✓ complete') });
  }, 60_000);
});

describe('the command that goes on', () => {
  /** What the other loops wait for is in the tests of those loops, with the same commands. */
  const DECIDED = ['approval_required', 'extension_requested', 'merge_conflict', 'checks_changed'];

  it('is not refused after any stop of a session that can be resumed', async () => {
    const environment = { PATH: process.env.PATH, HOME: scene.directory, PULSE_HOME: scene.home };
    await using pulse = await createPulse({ environment });
    const store = await openSqlite({ path: pulse.home.database });
    const { session } = await pulse.start({
      goal: 'g',
      path: scene.repository,
      createdBy: 'cli',
      command: 'true',
    });
    for (const [status, reasons] of Object.entries(STOP_REASONS) as [
      StoppedStatus,
      readonly StopReason[],
    ][]) {
      if (status === 'complete' || status === 'aborted') continue;
      for (const reason of reasons.filter((name) => !DECIDED.includes(name))) {
        const stopped = {
          status,
          stop_reason: reason,
          spent_usd: 12.3,
          total_tokens_used: 7,
          running_ms: 9e7,
        };
        await store.tx('test', (db) =>
          db
            .updateTable('pulse_sessions')
            .set({ ...stopped, current_iteration: 10 })
            .execute(),
        );
        const [command] = commandsIn(
          resultBlock(await pulse.session(session.id), { style: createStyle(false), cwd: '/' }),
        );
        const parsed = parse(command!);
        const { session: resumed } = await pulse.resume(parsed.id, { ...parsed.change, actor: 'test' });
        expect(resumed.status, command).toBe('running');
      }
    }
    await store.close();
    await pulse.abort(session.id, { actor: 'test' });
  });

  function parse(command: string) {
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
    const { command: found, input } = parseCommand(words.slice(1), COMMANDS);
    expect(found.name, command).toBe('resume');
    const change = {
      answer: input.text('answer'),
      maxIterations: input.number('max-iterations'),
      budgetUsd: input.usd('budget-usd'),
      budgetTokens: input.number('budget-tokens'),
      timeLimitMs: input.number('time-limit'),
    };
    return { id: input.argument('ID')!, change };
  }
});
