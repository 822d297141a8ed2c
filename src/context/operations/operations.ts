/** The operations on a project's context, ready to be called. */
import { operation } from '../../operations/operation.ts';
import { cut } from '../../operations/session/tool-text.ts';
import * as definitions from './definitions.ts';
import { createSlice, createSlices, searchTurns } from './find-turns.ts';
import { searchCode } from './search-code.ts';
import { importTurns, listTurns, showTurn } from './turns.ts';
import * as views from './views.ts';

export const contextOperations = {
  importTurns: operation(definitions.importTurns, { run: importTurns, view: views.ImportAnswer }),
  listTurns: operation(definitions.listTurns, { run: listTurns, view: views.TurnsAnswer }),
  searchTurns: operation(definitions.searchTurns, {
    run: searchTurns,
    view: views.SearchAnswer,
    tell: ({ results, meaning, embedder }) => ({
      text:
        results.map(({ turn_id, role, excerpt }) => `${turn_id} (${role}): ${excerpt}`).join('\n') ||
        'Nothing was said about it.',
      data: { results, ...(meaning ? { meaning } : {}), embedder },
    }),
  }),
  searchCode: operation(definitions.searchCode, { run: searchCode, view: views.CodeAnswer }),
  createSlice: operation(definitions.createSlice, { run: createSlice, view: views.SliceAnswer }),
  createSlices: operation(definitions.createSlices, { run: createSlices }),
  showTurn: operation(definitions.showTurn, {
    run: showTurn,
    view: views.TurnAnswer,
    tell: ({ turn }) => ({
      text: cut(turn.content, 16_000),
      data: { turn: { ...turn, content: undefined } },
    }),
  }),
};
