/** The operations on beads, ready to be called. */
import { PulseError } from '../../../domain/errors.ts';
import { answeringOperation, operation, type Told } from '../../../operations/operation.ts';
import { boundedSession, cut, startedText } from '../../../operations/session/tool-text.ts';
import { StartAnswer } from '../../../operations/session/view-schema.ts';
import { waitForStop } from '../../../operations/wait-for-stop.ts';
import type { Imported } from '../exchange/import-issues.ts';
import { BLOCKS } from '../graph/bead.ts';
import { changeBead, endBead, heldLines, importBeads, makeBead, widenBead } from './change.ts';
import * as definitions from './definitions.ts';
import { exportBeads } from './export.ts';
import { showGraph } from './graph-view.ts';
import { type PlanView, readPlan, startPlan } from './plan.ts';
import { listProjectBeads, type NextView, nextBead, showBead } from './read.ts';
import {
  BeadAnswer,
  BeadsAnswer,
  type BeadView,
  GraphAnswer,
  type GraphView,
  ImportAnswer,
  NextAnswer,
  PlanAnswer,
  ScopeAnswer,
  TddStepsInput,
  VerifyInput,
} from './view-schema.ts';

export const BEAD_INSTRUCTIONS =
  'Beads are a project’s graph of small pieces of work: pulse_bead_list, pulse_bead_next, pulse_bead_show; ' +
  'pulse_bead_plan has an agent draft some, which a person imports.';

const SCHEMAS = { verify: VerifyInput, tdd_steps: TddStepsInput };
const BEADS_SHOWN = 200;
const BODY_LENGTH = 4_000;

/** What has a path of its own comes before `/api/beads/{id}`. */
export const beadOperations = {
  create: operation(definitions.create, {
    run: makeBead,
    schemas: SCHEMAS,
    view: BeadAnswer,
    tell: ({ bead }) => beadText(bead),
  }),
  list: operation(definitions.list, {
    run: listProjectBeads,
    view: BeadsAnswer,
    tell({ beads }) {
      const shown = beads.slice(0, BEADS_SHOWN);
      const lines = [
        ...shown.map(beadLine),
        ...(beads.length > shown.length ? [`… of ${beads.length}`] : []),
      ];
      return {
        text: lines.join('\n') || 'There are no such beads.',
        data: { beads: shown.map(({ body: _, ...bead }) => bead), count: beads.length },
      };
    },
  }),
  next: operation(definitions.next, { run: nextBead, view: NextAnswer, tell: nextText }),
  graph: operation(definitions.graph, { run: showGraph, view: GraphAnswer, tell: graphText }),
  exportFile: operation(definitions.exportFile, {
    run: exportBeads,
    page: ({ text }) => ({ text }),
    tell: exportText,
  }),
  importFile: operation(definitions.importFile, { run: importBeads, view: ImportAnswer, tell: importText }),
  plan: answeringOperation(definitions.plan, {
    run: startPlan,
    view: StartAnswer,
    answer: (session) => ({ sessionId: session.id, session }),
    tell: (started) => startedText(started, 'pulse_bead_plan_show, with waitSeconds'),
  }),
  showPlan: operation(definitions.showPlan, {
    async run(operations, { sessionId, ...wait }) {
      await waitForStop(operations, sessionId, wait);
      return readPlan(operations, sessionId);
    },
    view: PlanAnswer,
    tell: planText,
  }),
  show: operation(definitions.show, {
    run: showBead,
    view: BeadAnswer,
    tell: ({ bead }) => beadText(bead),
  }),
  update: operation(definitions.update, {
    run: changeBead,
    schemas: SCHEMAS,
    view: BeadAnswer,
    tell: ({ bead }) => beadText(bead),
  }),
  close: operation(definitions.close, {
    run: async (operations, input) => ({ bead: (await endBead(operations, input)).bead }),
    view: BeadAnswer,
    tell: ({ bead }) => beadText(bead),
  }),
  scope: operation(definitions.scope, {
    run: widenBead,
    view: ScopeAnswer,
    tell: ({ bead, conflicts }) => {
      const { text, data } = beadText(bead);
      return { text: [text, ...heldLines(conflicts)].join('\n'), data: { ...data, conflicts } };
    },
  }),
};

/** More than that is a file's, and no assistant's. */
const MOST_EXPORTED = 256 * 1024;

function exportText({ text }: { text: string }): Told {
  if (text.length <= MOST_EXPORTED) return { text: text || 'There are no beads.', data: { text } };
  throw new PulseError('too_large', `The export has more than ${MOST_EXPORTED / 1024} KB.`, {
    hint: 'pulse bead export FILE writes it into a file.',
  });
}

function graphText({ nodes, edges }: GraphView): Told {
  const shown = nodes.slice(0, BEADS_SHOWN);
  const ids = new Set(shown.map(({ id }) => id));
  const between = edges.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const lines = [
    ...shown.map(({ id, priority, status, title }) => `${id} P${priority} ${status}: ${title}`),
    ...between.map(({ from, to, type }) =>
      type === BLOCKS ? `${from} waits for ${to}` : `${from} ${type} ${to}`,
    ),
    ...(nodes.length > shown.length ? [`… of ${nodes.length} beads`] : []),
  ];
  return {
    text: lines.join('\n') || 'There are no such beads.',
    data: { nodes: shown, edges: between, count: nodes.length },
  };
}

function beadLine({ id, priority, status, type, title, dependencies, missing }: BeadView): string {
  const waits = dependencies.length === 0 ? '' : ` (after ${dependencies.join(', ')})`;
  const lacks = missing.length === 0 ? '' : ` (lacks ${missing.join(', ')})`;
  return `${id} P${priority} ${status} ${type}: ${title}${waits}${lacks}`;
}

function beadText(bead: BeadView): Told {
  const body = cut(bead.body, BODY_LENGTH);
  const lines = [
    beadLine(bead),
    ...bead.files.map((file) => `file: ${file}`),
    ...bead.verify.map(
      ({ command, expect }) => `verify: ${command}${expect === undefined ? '' : ` (expects ${expect})`}`,
    ),
    ...(body === '' ? [] : [body]),
  ];
  return { text: lines.join('\n'), data: { bead: { ...bead, body } } };
}

function nextText({ bead, why }: NextView): Told {
  const skipped = why?.skipped.slice(0, BEADS_SHOWN) ?? [];
  const reasons = skipped.map(({ id, reasons }) => `not ${id}: ${reasons.join('; ')}`);
  const told = bead ? beadText(bead) : { text: 'No bead can be worked on now.', data: { bead: null } };
  const more = why ? { why: { chosen: why.chosen, skipped } } : {};
  return { text: [told.text, ...reasons].join('\n'), data: { ...told.data, ...more } };
}

function planText({ session, file, draft, commands }: PlanView): Told {
  const lines = [
    `${session.id} is ${session.status}.`,
    ...(session.blocked_reason ? [cut(session.blocked_reason, BODY_LENGTH)] : []),
    ...(draft ? [`epic ${draft.epic.id}: ${draft.epic.title}`] : []),
    ...(draft?.beads ?? []).map(({ id, title, dependencies = [] }) => {
      const waits = dependencies.length === 0 ? '' : ` (after ${dependencies.join(', ')})`;
      return `${id}: ${title}${waits}`;
    }),
    ...commands.map(({ bead, command }) => `${bead} would run: ${command}`),
    ...(file === null
      ? []
      : [`next: show the person ${file} and every command in it; on their word pulse_bead_import`]),
  ];
  return {
    text: lines.join('\n'),
    data: { session: boundedSession(session), file, draft, commands },
  };
}

function importText({ created, updated, unchanged, kept }: Imported): Told {
  return {
    text: `${created.length} beads made, ${updated.length} changed, ${unchanged} as they were; ${kept} other lines kept.`,
    data: { created: created.slice(0, BEADS_SHOWN), updated: updated.slice(0, BEADS_SHOWN), unchanged, kept },
  };
}
