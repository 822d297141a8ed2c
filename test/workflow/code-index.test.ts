/** A pulse's worktree is indexed in the background from its start, and its agent may ask at any time. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeScene } from '../engine/scene.ts';
import { type ModelServer, type Step, startModelServer } from '../fakes/model-server/index.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const call = (tool: string, input: Record<string, unknown>): Step => ({ calls: [{ tool, input }] });
const search = call('semantic_search', { query: 'Where is the harbour opened?' });
const FILES = {
  '.gitignore': 'out/\n',
  'src/harbour.ts': 'export function openHarbour(): void {}\n',
  'src/mountain.ts': 'export function climb(): void {}\n',
};
const SCRIPTS: Step[][] = [
  [
    search,
    call('write_file', { path: 'src/pier.ts', content: 'export const harbourPier = 1;\n' }),
    search,
    call('pulse_done', { summary: 'feat: a pier', filesChanged: ['src/pier.ts'] }),
    { text: 'That is all.' },
  ],
  [
    search,
    call('write_file', { path: 'src/buoy.ts', content: 'export const buoy = 1;\n' }),
    call('pulse_done', { summary: 'feat: a buoy', filesChanged: ['src/buoy.ts'] }),
    { text: 'That is all.' },
  ],
];

it('is searched from the first moment, sees what the pulse writes, and is there for the next pulse', async () => {
  const answers: string[][] = [];
  let run = 0;
  const url = server.script('searching', []);
  const asked = () => {
    const last = server.requests('searching').at(-1);
    if (last) answers.push(searchAnswers(last.body));
  };
  const scene = await makeScene({
    repo: { files: FILES },
    environment: { ANTHROPIC_API_KEY: 'dummy', ANTHROPIC_BASE_URL: url },
    trace: (point) => {
      if (point === 'run_agent:before') {
        asked();
        server.script('searching', SCRIPTS[run++]!);
      }
    },
  });
  const { session } = await scene.pulse.workflow.start({
    plan: {
      title: 'Harbour',
      pulses: ['pier', 'buoy'].map((id) => ({ id, title: id, description: `Make a ${id}.` })),
      preflight: [
        // Neither ignored nor tracked: preflight's, hence nobody's code.
        "mkdir -p out made && echo 'export const harbour = 1' | tee out/harbour.ts made/harbour.ts",
      ],
    },
    path: scene.root,
    ...{ agent: 'native', model: 'anthropic/a-model', createdBy: 'cli', actor: 'test', isApproved: true },
  });
  const halted = await scene.run(session);
  expect(halted, halted.blocked_reason ?? '').toMatchObject({ stop_reason: 'approval_required' });
  asked();
  const [before, after, next] = answers.flat();
  for (const answer of [before, after, next]) {
    expect(answer).toContain('src/harbour.ts:1: export function openHarbour(): void {}');
    expect(answer).toMatch(/\nindex: (lexical|partial|ready|stale)$/);
    expect(answer).not.toContain('out/');
    expect(answer).not.toContain('made/');
  }
  expect(before).not.toContain('src/pier.ts');
  expect(after).toContain('src/pier.ts');
  expect(next).toContain('src/pier.ts');
  // The thread has had a whole pulse's time, and keeps what it knows from one to the next.
  expect(next).toMatch(/\nindex: (ready|stale)$/);
}, 60_000);

/** What the tool has answered, as it stands in a request to the model. */
function searchAnswers(body: unknown): string[] {
  const texts: string[] = [];
  JSON.stringify(body, (_, value) => {
    if (typeof value === 'string' && /\nindex: \w+$/.test(value)) texts.push(value);
    return value;
  });
  return texts;
}
