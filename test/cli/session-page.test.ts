/** The report as a page: nothing that an agent or a person wrote becomes an element of it. */
import { describe, expect, it } from 'vitest';
import { sessionPage } from '../../src/cli/session-page.ts';
import type { SessionExport } from '../../src/operations/export.ts';

const AT = '2026-01-01T10:00:00.000Z';
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></style></title><svg/onload=alert(1)>',
  '&lt;b&gt; <b>bold</b> \x1b[31mred\x07',
];

function exported(words: string): SessionExport {
  return {
    session: {
      ...{
        id: 'ses_1',
        kind: 'goal',
        goal: words,
        status: 'complete',
        stop_reason: 'completed',
        trust: 'verified',
      },
      ...{
        project_name: words,
        project_path: words,
        branch_name: words,
        base_branch: words,
        base_sha: 'a'.repeat(40),
      },
      ...{ agent: 'command', command: words, verify: [words], current_iteration: 1, max_iterations: 10 },
      ...{
        total_commits: 1,
        spent_usd: 0,
        total_tokens_used: 10,
        running_ms: 1,
        created_at: AT,
        ended_at: AT,
      },
      ...{ blocked_reason: words, progress_log: [] },
    },
    iterations: [
      {
        ...{
          iteration_number: 1,
          outcome: 'rejected',
          signal: 'COMPLETE',
          status: 'complete',
          output_summary: words,
        },
        ...{
          commit_hash: 'b'.repeat(40),
          files_changed: [words],
          cost_usd: null,
          input_tokens: 1,
          output_tokens: 1,
        },
      },
    ],
    verifications: [
      {
        ...{ iteration: 1, passed: false, command: words, exit: 1, durationMs: 5, tree: 'c'.repeat(40) },
        ...{ outputHash: 'd'.repeat(64), outputTail: words },
      },
    ],
    judgements: [{ iteration: 1, verdict: 'rejected', reasons: [words], decidedBy: words }],
    unresolved: [{ pulse: words, issue: words, reason: words }],
    recovery: [`refs/pulse/recovery/${words}`],
    events: [{ seq: 1, type: 'session.created', at: AT, sessionId: 'ses_1', data: { goal: words } }],
    workflow: null,
  } as unknown as SessionExport;
}

const page = (words: string, diff: string | null = words) =>
  sessionPage(exported(words), { diff, isTruncated: false });

/** Every tag with its attributes, without the text between them. */
const tagsOf = (text: string) => text.match(/<[a-z!/][^>]*>/gi) ?? [];

describe('a session as a page', () => {
  it.each(HOSTILE)('takes %s for words', (words) => {
    const calm = page('calm');
    expect(tagsOf(page(words))).toEqual(tagsOf(calm));
    for (const control of ['\x1b', '\x07']) expect(page(words)).not.toContain(control);
  });

  it('needs nothing from outside and runs nothing', () => {
    const text = page('calm');
    expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'`);
    expect(text).not.toMatch(/<script|<link|<img|\bsrc=|\bhref=|url\(/);
  });

  it('sets what was claimed beside what was seen, and says what is gone', () => {
    const text = page('calm');
    for (const words of ['Iteration 1', 'The agent says', 'Pulse saw', 'failed', 'not accepted', 'exit 1'])
      expect(text).toContain(words);
    expect(page('calm', '')).toContain('Nothing changed since');
    expect(page('calm', null)).toContain('no longer has these commits');
    expect(page('calm', '+added\n-removed\n@@ -1 +1 @@')).toMatch(
      /class="added">\+added[\s\S]*class="removed">-removed[\s\S]*class="place">@@/,
    );
  });
});
