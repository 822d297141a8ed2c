/**
 * `br` and `bv` inside a run: agents are told to run these programs, and where they are not installed, a small program
 * of the same name asks this tool. It answers from the store. A run changes nothing of the graph but by `bead_done`.
 */
import * as z from 'zod';
import { isPulseError } from '../../../domain/errors.ts';
import { toStorable } from '../../../domain/storable.ts';
import type { Store } from '../../../store/store.ts';
import { defineTool, type Tool, type ToolReply } from '../../../tools/contract.ts';
import { viewBeads } from '../graph/bead-view.ts';
import { readNext, readReady } from '../graph/claim.ts';
import { requireEpic } from '../graph/next.ts';
import { getBead, listBeads } from '../graph/rows.ts';
import { issueLine, issueOf, issueText, recommendationsOf } from './graph-texts.ts';
import { reasonsNotToAsk } from './next-gate.ts';
import type { BeadWork } from './work-data.ts';

export interface Printed {
  stdout: string;
  stderr: string;
  exit: number;
}

interface GraphRun {
  store: Store;
  work: BeadWork;
  sessionId: string;
}

const MOST_RANKED = 50;
const VALUED = ['--epic', '--status', '-s', '--reason', '--assignee', '--priority', '-p', '--limit'];

export function graphTool(run: GraphRun): Tool {
  return defineTool({
    name: 'bead_graph',
    description:
      'Look at the graph of beads as the programs br and bv do: program "br" with args ["show", ID], ["ready"] or ["list"]; program "bv" with args ["--robot-priority"]; program "pulse" with args ["next"], ["list"] or ["show", ID]. `--json` prints JSON, as "pulse" always does.',
    input: z.object({
      program: z.enum(['br', 'bv', 'pulse']),
      args: z.array(z.string().max(4_096).overwrite(toStorable)).max(50).default([]),
    }),
    async call({ program, args }): Promise<ToolReply> {
      const printed = await answer(run, program, readArgs(args));
      const ok = printed.exit === 0;
      return { ok, output: printed, ...(ok ? {} : { reasons: [printed.stderr] }) };
    },
  });
}

interface Args {
  words: string[];
  options: Map<string, string>;
}

function readArgs(args: readonly string[]): Args {
  const words: string[] = [];
  const options = new Map<string, string>();
  for (let at = 0; at < args.length; at++) {
    const [name = '', ...rest] = args[at]!.split('=');
    if (!name.startsWith('-')) words.push(args[at]!);
    else
      options.set(name, rest.length > 0 ? rest.join('=') : VALUED.includes(name) ? (args[++at] ?? '') : '');
  }
  return { words, options };
}

function answer(run: GraphRun, program: 'br' | 'bv' | 'pulse', args: Args): Promise<Printed> {
  if (program === 'bv') return answerBv(run, args);
  const answers = program === 'br' ? BR : PULSE;
  const [command = 'help'] = args.words;
  const known = Object.hasOwn(answers, command) ? answers[command] : undefined;
  const names = Object.keys(answers).join(', ');
  return known
    ? known(run, args)
    : Promise.resolve(refused(`${program} ${command}: not known here. Known: ${names}.`, 2));
}

type Answer = (run: GraphRun, args: Args) => Promise<Printed>;

async function answerBv(run: GraphRun, { options }: Args): Promise<Printed> {
  if (!options.has('--robot-priority') && !options.has('--robot-next'))
    return refused('bv: only --robot-priority and --robot-next are answered here.', 2);
  const count = options.has('--robot-next') ? 1 : MOST_RANKED;
  return whenReported(run, async () => printed(json(recommendationsOf(await ready(run, count)))));
}

const BR: Record<string, Answer> = {
  async show({ store, work }, { words: [, ...ids], options }) {
    const wanted = ids.length > 0 ? ids : [work.beadId];
    try {
      const beads = await store.read((db) =>
        Promise.all(wanted.map((id) => getBead(db, work.projectId, id))),
      );
      return printed(isJson(options) ? json(beads.map(issueOf)) : beads.map(issueText).join('\n\n'));
    } catch (error) {
      if (isPulseError(error, 'not_found')) return refused(error.message, 1);
      throw error;
    }
  },
  ready: (run, { options }) =>
    whenReported(run, async () => {
      const beads = (await ready(run, MOST_RANKED)).map(({ bead }) => bead);
      return printed(isJson(options) ? json(beads.map(issueOf)) : beads.map(issueLine).join('\n'));
    }),
  async list({ store, work }, { options }) {
    const status = options.get('--status') ?? options.get('-s');
    const filter = { epic: work.epic, ...(status ? { status } : {}) };
    const beads = await store.read((db) => listBeads(db, work.projectId, filter));
    return printed(isJson(options) ? json(beads.map(issueOf)) : beads.map(issueLine).join('\n'));
  },
  async update({ work }, { words: [, id], options }) {
    const status = options.get('--status') ?? options.get('-s');
    const isClaim = status === 'in_progress' || options.has('--claim');
    if (id === work.beadId && isClaim) return printed(`${id} is claimed for you, and in progress.`);
    return refused(`br update: inside a run no bead is changed. ${INSTEAD}`);
  },
  close: async (_, { words: [, id = 'ID'] }) =>
    refused(
      `br close ${id}: Pulse closes the bead when it has verified it. Call bead_done with your summary.`,
    ),
  create: async () => refused(`br create: inside a run no bead is made. ${INSTEAD}`),
  dep: async () => refused(`br dep: inside a run no bead is changed. ${INSTEAD}`),
  sync: async () => printed('The graph is kept by Pulse: there is nothing to sync.'),
};

/** What `pulse bead` answers outside of a run; here the state directory is not the agent's to open. */
const PULSE: Record<string, Answer> = {
  show: ({ store, work }, { words: [, id = work.beadId] }) =>
    answerFound(() =>
      store.read(async (db) => {
        const [bead] = await viewBeads(db, work.projectId, [await getBead(db, work.projectId, id)]);
        return { bead };
      }),
    ),
  list: ({ store, work }, { options }) =>
    answerFound(() =>
      store.read(async (db) => {
        const { projectId } = work;
        const [epic, status] = [options.get('--epic'), options.get('--status')];
        if (epic !== undefined) await requireEpic(db, projectId, epic);
        return { beads: await viewBeads(db, projectId, await listBeads(db, projectId, { epic, status })) };
      }),
    ),
  next: (run, { options }) =>
    whenReported(run, () =>
      answerFound(async () => {
        const { store, work } = run;
        const [epic = work.epic, isExplained] = [options.get('--epic'), options.has('--why')];
        const query = { projectId: work.projectId, epic, agent: work.mailName, isExplained };
        const { bead, why } = await readNext(store, query);
        const views = bead ? await store.read((db) => viewBeads(db, work.projectId, [bead])) : [];
        return { bead: views[0] ?? null, ...(isExplained ? { why } : {}) };
      }),
    ),
};

async function answerFound(ask: () => Promise<object>): Promise<Printed> {
  try {
    return printed(json(await ask()));
  } catch (error) {
    if (isPulseError(error, 'not_found') || isPulseError(error, 'invalid_input'))
      return refused(error.message, 2);
    throw error;
  }
}

const INSTEAD = 'Name what is left in followUps of bead_done, or write to the coordinator with send_message.';

function ready({ store, work }: GraphRun, count: number) {
  const { projectId, epic, mailName: agent } = work;
  return readReady(store, { projectId, epic, agent }, count);
}

/** Before it asks what comes next, a worker has reported in and read its mail. */
async function whenReported({ store, sessionId }: GraphRun, ask: () => Promise<Printed>): Promise<Printed> {
  const reasons = await store.read((db) => reasonsNotToAsk(db, sessionId));
  return reasons.length > 0 ? refused(reasons.join(' ')) : ask();
}

function isJson(options: Args['options']): boolean {
  return options.has('--json') || options.get('--format') === 'json';
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function printed(stdout: string): Printed {
  return { stdout, stderr: '', exit: 0 };
}

function refused(stderr: string, exit = 1): Printed {
  return { stdout: '', stderr, exit };
}
