/** The report as a page: nothing that an agent or a person wrote becomes an element of it. */
import { describe, expect, it } from 'vitest';
import { evidenceReport } from '../../src/cli/evidence-report.ts';
import { sessionPage } from '../../src/cli/session-page.ts';
import { type ReportRuns, readRuns } from '../../src/cli/session-page-runs.ts';
import { type ReportSources, readSources, type SourcesPulse } from '../../src/cli/session-page-sources.ts';
import type { SessionExport } from '../../src/operations/export.ts';
import type { Pulse } from '../../src/pulse.ts';
import { hostileTexts } from '../fakes/hostile-texts.ts';

const AT = '2026-01-01T10:00:00.000Z';
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</pre></style></title><svg/onload=alert(1)>',
  '&lt;b&gt; <b>bold</b> \x1b[31mred\x07',
  ...hostileTexts('http://127.0.0.1:9'),
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
        budget_usd: null,
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
          cost_usd: 0,
          context_tokens: 12,
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
    judgements: [
      {
        ...{
          iteration: 1,
          verdict: 'rejected',
          reasons: [words],
          decidedBy: words,
          changes: [],
          declared: [],
        },
        ...{ replay: null, opinion: null, flaky: [], trust: 'unverified' },
      },
    ],
    unresolved: [{ pulse: words, issue: words, reason: words }],
    recovery: [`refs/pulse/recovery/${words}`],
    events: [{ seq: 1, type: 'session.created', at: AT, sessionId: 'ses_1', data: { goal: words } }],
    workflow: null,
  } as unknown as SessionExport;
}

function experiment(number: number, words: string, given: object) {
  return {
    ...{
      number,
      status: 'keep',
      description: words,
      reason: words.replaceAll('\n', ' '),
      commit: 'e'.repeat(40),
      metric: 10 - number,
    },
    ...{ delta: -1, endedAt: `${AT}${number}`, decision: { figures: { sigma: 0.5 } } },
    ...given,
  };
}

/** Of research, and of a swarm: no session is both, but all of it must be inert. */
function sourcesOf(words: string): ReportSources {
  const child = (id: string, spent_usd: number) => ({
    ...{ id, goal: words, nickname: words, agent: words, status: 'complete', current_iteration: 2 },
    ...{ spent_usd, total_tokens_used: 1_000, running_ms: 5_000 },
  });
  const bead = (id: string, merged: number | null, passed: boolean) => ({
    ...{ id, title: words, status: merged === null ? words : 'closed', merged, worker: words, reason: words },
    ...{
      commit: 'f'.repeat(40),
      evidence: [words],
      checks: [{ command: words, exit: passed ? 0 : 1, passed }],
    },
  });
  return {
    research: {
      session: { base_sha: 'a'.repeat(40) },
      research: { baseline: 12, content: { metric: { name: words, direction: 'lower' } } },
      experiments: [
        experiment(2, words, {}),
        experiment(1, words, { status: 'crash', metric: null, reason: `${words}\n${words}` }),
        experiment(3, words, { status: 'running', endedAt: null }),
      ],
      progress: {
        ...{ baseline: 12, metric: 8, keeps: 1, discards: 0, crashes: 1 },
        best: { iteration: 2, description: words },
      },
    },
    swarm: {
      epic: words,
      beads: [bead('one', 1, true), bead('two', null, false)],
      workers: [
        {
          ...{ sessionId: 'ses_2', nickname: words, mailName: words, status: 'complete', bead: words },
          ...{ contextUsed: 0.42, leftFor: words, isWaiting: false, doing: null },
        },
      ],
    },
    children: [child('ses_2', 0.75), child('ses_3', 0.5)],
  } as unknown as ReportSources;
}

function runsOf(words: string): ReportRuns {
  const entry = (n: number, kind: string, data: Record<string, unknown>) => ({
    n,
    atMs: n * 1_000,
    kind,
    text: words,
    data,
  });
  const entries = [entry(1, 'text', {}), entry(2, words, {}), entry(3, 'tool_end', { ok: false })];
  const about = { iteration: 1, attempt: 1, attempts: [1], agent: words, isRecorded: true };
  return {
    briefs: new Map([[1, words]]),
    transcripts: new Map([[1, { ...about, entries, nextAfter: null }]]),
  };
}

const page = (words: string, diff: string | null = words) =>
  sessionPage(exported(words), {
    ...{ change: { diff, isTruncated: false }, sources: sourcesOf(words), runs: runsOf(words) },
  });

/** Every tag with its attributes, without the text between them and the words that name the plot. */
const tagsOf = (text: string) =>
  (text.match(/<[a-z!/][^>]*>/gi) ?? []).map((tag) => tag.replace(/aria-label="[^"]*"/, 'aria-label'));

describe('a session as a page', () => {
  it.each(HOSTILE)('takes %s for words', (words) => {
    // A diff is an element a line.
    const shown = page(words, words.replaceAll('\n', ' '));
    expect(tagsOf(shown)).toEqual(tagsOf(page('calm')));
    for (const control of ['\x1b', '\x07', '\u202e']) expect(shown).not.toContain(control);
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

  it('has what the agent was told and what it printed, with what failed', () => {
    const text = page('calm');
    expect(text).toMatch(/<summary>Brief, 12 tokens<\/summary><pre>calm<\/pre>/);
    expect(text).toContain('<li>cost not known, 2 tokens</li>');
    expect(text).toMatch(/<summary>Transcript, 3 entries<\/summary>/);
    expect(text).toMatch(/3\.0s tool_end, failed<\/th><td><pre>calm<\/pre>/);
    const without = sessionPage(exported('calm'), { change: { diff: '', isTruncated: false } });
    for (const what of ['brief', 'transcript']) expect(without).toContain(`The ${what} is left out`);
  });

  it('leaves out the oldest briefs and transcripts where it would be too long', async () => {
    const kilobyte = 'x'.repeat(1024);
    const rows = Array.from({ length: 5 }, (_, index) => ({
      iteration_number: index + 1,
      task_content: kilobyte.repeat(400),
    }));
    const asked: number[] = [];
    const pulse = {
      transcript: async (_: string, { iteration }: { iteration: number }) => {
        asked.push(iteration);
        return { entries: [{ text: kilobyte.repeat(900) }] };
      },
    };
    const content = { session: { id: 'ses_1' }, iterations: rows } as unknown as SessionExport;
    const { briefs, transcripts } = await readRuns(pulse as unknown as Pulse, content);
    expect([...briefs.keys()]).toEqual([5, 4]);
    expect([...transcripts.keys()]).toEqual([5, 4]);
    expect(asked).toEqual([5, 4, 3]);
  });

  it('has the experiments in the order in which they were decided, with their plot', () => {
    const text = page('calm');
    expect(text).toContain(
      'calm (lower is better): 12 at first, now 8. Best: #2. 1 kept, 0 discarded, 1 crashed.',
    );
    expect(text).toMatch(/<svg [^>]*role="img"[\s\S]*<polyline[\s\S]*<\/svg>/);
    const cells = (row: string) => [...row.matchAll(/<td>(.*?)<\/td>/gs)].map(([, cell]) => cell);
    const rows = [...text.matchAll(/<tr>(<td>\d+<\/td>.*?)<\/tr>/gs)].map(([, row]) => cells(row!));
    expect(rows.slice(0, 3).map(([number, , metric, delta]) => [number, metric, delta])).toEqual([
      ['0', '12', ''],
      ['1', '–', ''],
      ['2', '8', '-1'],
    ]);
    expect(text).not.toMatch(/<td>3<\/td>/);
  });

  it('has the beads of a swarm with what was run for each, its workers, and what each child cost', () => {
    const text = page('calm');
    expect(text).toContain('Epic calm: 1 of 2 closed');
    expect(text).toMatch(
      /<td>1<\/td><td><code>one<\/code> calm<\/td>.*<code>ffffffffffff<\/code>.*passed.*exit 0/s,
    );
    expect(text).toMatch(/<td>–<\/td><td><code>two<\/code> calm<\/td>.*failed.*exit 1/s);
    expect(text).toContain('<td>42 %</td>');
    expect(text).toMatch(
      /<code>ses_2<\/code>.*\$0\.75, 1\.0k tokens.*<code>ses_3<\/code>.*\$0\.50, 1\.0k tokens/s,
    );
    const parent = { ...exported('calm') };
    parent.session = { ...parent.session, spent_usd: 2, total_tokens_used: 3_000 };
    expect(
      sessionPage(parent, { change: { diff: '', isTruncated: false }, sources: sourcesOf('calm') }),
    ).toMatch(/itself.*\$0\.75, 1\.0k tokens.*in all.*\$2\.00, 3\.0k tokens/s);
  });

  it('has all of it in Markdown too, where no word of theirs ends a cell or begins an element', () => {
    const text = evidenceReport(exported('calm'), sourcesOf('calm'));
    expect(text).toContain('| 2 | `eeeeeee` | 8 | -1 | keep | calm | calm |');
    expect(text).toMatch(/\| 1 \| `one` calm \| closed \| calm \| `f{12}` \| passed: `calm` \| `calm` \|/);
    expect(text).toMatch(/\| `ses_2` \| calm \| complete \| 5\.0s \| \$0\.75, 1\.0k tokens \|/);
    const tables = (words: string) =>
      evidenceReport(exported('calm'), sourcesOf(words))
        .match(/^\|.*\|$/gm)!
        .map((row) => row.split(/(?<!\\)\|/).length);
    for (const words of [...HOSTILE, 'a|b', 'a\nb']) expect(tables(words)).toEqual(tables('calm'));
    expect(evidenceReport(exported('calm'), sourcesOf('<img src=x onerror=alert(1)>'))).not.toMatch(
      /^[^`]*<img/m,
    );
  });

  it('says how many runs there were where no number of them was worked towards', () => {
    const of = (kind: string) => {
      const content = exported('calm');
      content.session = { ...content.session, kind, current_iteration: 2, max_iterations: 1_000_000 };
      return [sessionPage(content, { change: { diff: '', isTruncated: false } }), evidenceReport(content)];
    };
    for (const text of of('beads')) {
      expect(text).toContain('2 runs, 1 commits');
      expect(text).not.toContain('1000000');
    }
  });
});

describe('what a report of a swarm is made of', () => {
  const run = (iteration_number: number, unit: string, attempt = 1) => ({ iteration_number, unit, attempt });
  const record = (iteration: number, command: string, passed: boolean, attempt = 1) => ({
    ...{ iteration, attempt, command, exit: passed ? 0 : 1, passed },
  });
  const closed = (bead: string) => ({ type: 'bead.closed', data: { bead, worker: 'worker-1' } });
  const content = {
    session: { id: 'ses_1', kind: 'beads', parent_session_id: null, project_path: '/repo' },
    events: [closed('b'), closed('a')],
    iterations: [run(1, 'prepare'), run(2, 'merge a b')],
    verifications: [record(2, 'test a', true), record(2, 'test b', true)],
  } as unknown as SessionExport;
  const bead = (id: string, status = 'closed') => ({
    id,
    title: id,
    status,
    worker: null,
    commit: null,
    reason: null,
  });
  const pulse = {
    swarm: {
      show: async () => ({
        swarm: { epic: 'e' },
        workers: [{ sessionId: 'ses_2', nickname: 'worker-1' }],
        beads: [bead('a'), bead('open', 'open'), bead('b')],
      }),
    },
    bead: {
      list: async () => ({
        beads: [
          { id: 'a', verification_evidence: 'a.md', verify: [{ command: 'test a' }] },
          { id: 'b', verification_evidence: ['b.md', 'c.md'], verify: [{ command: 'test b' }] },
        ],
      }),
    },
    show: async () => ({ iterations: [run(1, 'a', 2), run(2, 'open')] }),
    showVerifications: async () => ({
      verifications: [
        record(1, 'test a', false),
        record(1, 'test a', false, 2),
        record(2, 'test open', false),
      ],
    }),
    async listCards({ cursor }: { cursor?: string }) {
      const sessions = [{ id: cursor === undefined ? 'ses_2' : 'ses_0' }];
      return { sessions, nextCursor: cursor === undefined ? 'ses_2' : null };
    },
  } as unknown as SourcesPulse;

  it('is every bead in the order of merging, with the checks of the run that counted, and all children', async () => {
    const { swarm, children, research } = await readSources(pulse, content);
    expect(research).toBeNull();
    expect(swarm!.beads.map(({ id, merged, worker }) => [id, merged, worker])).toEqual([
      ['b', 1, 'worker-1'],
      ['a', 2, 'worker-1'],
      ['open', null, null],
    ]);
    const checks = swarm!.beads.map((one) => one.checks.map(({ command, passed }) => `${command} ${passed}`));
    // Merged in one run: each has its own checks of it.
    expect(checks).toEqual([['test b true'], ['test a true'], ['test open false']]);
    expect(swarm!.beads.map(({ evidence }) => evidence)).toEqual([['b.md', 'c.md'], ['a.md'], []]);
    expect(children.map(({ id, nickname }) => [id, nickname])).toEqual([
      ['ses_0', null],
      ['ses_2', 'worker-1'],
    ]);
  });
});
