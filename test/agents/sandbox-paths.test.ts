/** What each agent sees of the user's home in a sandbox. */
import { describe, expect, test } from 'vitest';
import { AGENT_NAMES, findAdapter } from '../../src/agents/registry.ts';

const place = { home: '/home/ada', environment: {}, worktree: '/state/worktrees/p/ses_1', command: null };

describe.each(AGENT_NAMES)('%s', (name) => {
  const paths = findAdapter(name).sandboxPaths?.(place) ?? { read: [], write: [] };
  const all = [...paths.read, ...paths.write].map((path) => path.replace(/\/$/, ''));

  test('names files of its own, never the home folder or somebody else’s secrets', () => {
    for (const path of all) {
      expect(path).toMatch(/^\/home\/ada\/./);
      expect(path).not.toMatch(/\.(ssh|gnupg|aws|netrc|npmrc|git-credentials|docker|kube)\b/);
    }
  });

  test('writes nothing that tells an agent, or a shell, how to behave', () => {
    for (const path of paths.write) {
      expect(path).not.toMatch(
        /settings|config(\.toml|\.json)?\/?$|hooks|plugins?|extensions?|skills|AGENTS|CLAUDE\.md/,
      );
    }
  });
});

test('claude sees its transcripts of this worktree alone, where its user keeps them', () => {
  const environment = { CLAUDE_CONFIG_DIR: '/elsewhere' };
  const { read, write } = findAdapter('claude').sandboxPaths!({ ...place, environment });
  expect(write).toEqual(['/elsewhere/.credentials.json', '/elsewhere/projects/-state-worktrees-p-ses-1/']);
  expect(read).toContain('/elsewhere/.claude.json');
});

test.each([
  ['gemini', '/home/ada/.gemini/tmp/bin/'],
  ['qwen', '/home/ada/.qwen/tmp/bin/'],
  ['opencode', '/home/ada/.local/share/opencode/bin/'],
])('%s cannot change the programs that it keeps for itself', (name, folder) => {
  expect(findAdapter(name).sandboxPaths!(place).read).toContain(folder);
});

test('replay sees its recording', () => {
  const adapter = findAdapter('replay');
  expect(adapter.sandboxPaths!({ ...place, command: '/recordings/1' }).read).toEqual(['/recordings/1']);
});
