import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeBeads } from './bead-cases.ts';
import { describeAgent, describeReadme, describeUsageLimit } from './cases.ts';
import { describeReview } from './review-cases.ts';
import { makeStage, type Subject, useModelServer } from './stage.ts';
import { describeWorkflow } from './workflow-cases.ts';

const codex: Subject = {
  name: 'codex',
  user(url, home) {
    mkdirSync(join(home, '.codex'), { recursive: true });
    writeFileSync(
      join(home, '.codex/config.toml'),
      [
        'model = "gpt-5.5"',
        'model_provider = "scripted"',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${url}/v1"`,
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 1',
        'stream_max_retries = 1',
        '[analytics]',
        'enabled = false',
      ].join('\n'),
    );
    return { OPENAI_API_KEY: 'dummy' };
  },
  forbid(home) {
    mkdirSync(join(home, '.codex/rules'), { recursive: true });
    const rule = 'prefix_rule(pattern=["touch"], decision="forbidden", justification="not here")\n';
    writeFileSync(join(home, '.codex/rules/default.rules'), rule);
  },
  calls: {
    read: (path) => ({ tool: 'exec_command', input: { cmd: `cat ${path}` } }),
    edit: (path, { from, to }) => patch(`*** Update File: ${path}`, '@@', `-${from}`, `+${to}`),
    write: (path, text) => patch(`*** Add File: ${path}`, `+${text}`),
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd, yield_time_ms: 30_000 } }),
    signal: (signal) => ({ tool: 'mcp__pulse/pulse_signal', input: { signal } }),
  },
  costOfCall: 0.0065, // 1000 tokens in and 50 out; the log names the model
  quietMs: 10_000,
  tellsRetries: true,
  tellsCostAfterTools: 'unless_interrupted',
};

function patch(...lines: string[]) {
  return { tool: 'apply_patch', input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') };
}

describeAgent(codex);
describeReadme(codex);
describeUsageLimit(codex);
describeWorkflow(codex);
describeBeads(codex, { window: 258_400 });
describeReview(codex);

const server = useModelServer();

test('a budget ends a real codex while it runs, to within one call', async () => {
  const { play } = await makeStage(codex, server());
  const call = { calls: [codex.calls.shell('echo more >> log.txt; sleep 0.5')] };
  const session = await play(
    Array.from({ length: 40 }, () => call),
    { budgetUsd: 0.015 },
  );
  expect(session).toMatchObject({ status: 'blocked', stop_reason: 'budget_cost' });
  expect(session.spent_usd).toBeGreaterThan(0.015);
  expect(session.spent_usd).toBeLessThanOrEqual(0.015 + 2 * 0.0065);
});

test('the hooks of a repository do not run because Pulse has one of its own', async () => {
  const { scene, play } = await makeStage(codex, server());
  const planted = join(scene.folder, 'planted');
  const group = [{ hooks: [{ type: 'command', command: `touch ${planted}` }] }];
  mkdirSync(join(scene.root, '.codex'));
  writeFileSync(
    join(scene.root, '.codex/hooks.json'),
    JSON.stringify({ hooks: { SessionStart: group, PreToolUse: group } }),
  );
  scene.sh(scene.root, 'add', '-A');
  scene.sh(scene.root, 'commit', '-qm', 'with hooks');
  const session = await play([
    { calls: [codex.calls.shell('ls .codex/hooks.json')] },
    { text: 'Fine.\n\n<signal>COMPLETE</signal>' },
  ]);
  expect(session.status).toBe('complete');
  expect(existsSync(planted)).toBe(false);
});
