/** `pulse watch` at a terminal: all sessions at once, until the person leaves. Leaving changes nothing. */
import { isPulseError, isStoreAway } from '../../domain/errors.ts';
import type { Pulse } from '../../pulse.ts';
import type { Session } from '../../store/sessions.ts';
import { limitFrames } from '../../terminal/frames.ts';
import type { Key } from '../../terminal/keys.ts';
import type { CommandContext } from '../command-spec.ts';
import { followSession } from '../follow/follow.ts';
import { type Board, callFor, FIRST, press, type Request, refresh, selectedRow } from './board.ts';
import { createFigureReader, NO_FIGURES } from './figures.ts';
import { drawBoard, pageHeight } from './lines.ts';
import { performRequest } from './perform.ts';
import { openTerminal } from './terminal.ts';

/** How often the store is looked at. Nothing is written where nothing changed. */
const LOOK_MS = 1_000;

export async function watchAll(context: CommandContext, pulse: Pulse): Promise<number> {
  const { output, cwd } = context;
  const left = Promise.withResolvers<number>();
  let board: Board = FIRST;
  let detail: Session | null = null;
  let figures = NO_FIGURES;
  const readFigures = createFigureReader(pulse);
  let timer: NodeJS.Timeout | undefined;
  let isAway = false;
  /** One after the other: what was asked for, and looks at the store. */
  let queue: Promise<unknown> = Promise.resolve();

  using terminal = openTerminal(output.stdout, {
    onKey,
    onResize: () => frames.ask(),
    onEnd: () => left.resolve(0),
  });

  using frames = limitFrames(() => {
    const frame = { ...terminal.size(), style: output.stdout.style, nowMs: Date.now(), detail, figures };
    const { rows, cursor } = drawBoard(board, frame);
    terminal.screen.draw(rows, cursor);
  });

  async function look(): Promise<void> {
    try {
      // Keys may come while the store answers: the board as it is then counts.
      const overview = await pulse.overview();
      const call = board.overview === FIRST.overview ? null : callFor(board.overview, overview);
      if (call !== null && !terminal.isLookedAt()) output.stdout.call(call);
      figures = await readFigures(overview, Date.now());
      board = refresh(board, overview);
      const selected = selectedRow(board)?.entry.id;
      detail = selected === undefined ? null : await pulse.session(selected);
      if (isAway) board = { ...board, said: null };
      isAway = false;
    } catch (error) {
      if (!isStoreAway(error) && !isPulseError(error, 'not_found')) throw error;
      isAway = true;
      board = { ...board, said: `Not live: ${(error as Error).message}` };
    }
    frames.ask();
  }

  function enqueue(work: () => Promise<void>): void {
    queue = queue.then(work).catch(left.reject);
  }

  /** After the look before it: a slow store is not asked twice at once. */
  function lookLater(): void {
    timer = setTimeout(() => enqueue(async () => void (await look().then(lookLater))), LOOK_MS);
  }

  function onKey(key: Key): void {
    const pressed = press(board, key, pageHeight(terminal.size().rows));
    board = pressed.board;
    frames.ask();
    const { request } = pressed;
    if (request?.do === 'leave') left.resolve(0);
    else
      enqueue(async () => {
        if (request) await perform(request);
        await look();
      });
  }

  async function perform(request: Exclude<Request, { do: 'leave' }>): Promise<void> {
    if (request.do !== 'follow') {
      const came = await performRequest(pulse, context, request);
      board = { ...board, ...came };
      return;
    }
    const session = await pulse.session(request.id);
    await terminal.lend(async (signal) => {
      await followSession({ pulse, session, output, cwd, isWatching: true, signal });
      output.talk('Any key goes back to all sessions.');
    });
  }

  try {
    await look();
    lookLater();
    return await left.promise;
  } finally {
    clearTimeout(timer);
    // The store is closed after this: what was asked for comes first.
    await queue;
  }
}
