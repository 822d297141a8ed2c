/** Does what a person asked for on the board, and says what came of it. */
import { servingAt } from '../../api/serve-lock.ts';
import { isPulseError } from '../../domain/errors.ts';
import type { Changed } from '../../operations/operation.ts';
import { openInBrowser } from '../../process/browser.ts';
import type { Pulse } from '../../pulse.ts';
import type { CommandContext } from '../command-spec.ts';
import { loginLink } from '../login-link.ts';
import { launchRunner } from '../session-runner.ts';
import type { Board, Pages, Request } from './board.ts';
import { changeLines, evidenceLines } from './pages.ts';

/** Following needs the whole terminal, and leaving needs nothing. */
export type BoardRequest = Exclude<Request, { do: 'leave' | 'follow' }>;

/** What is refused is said, with its hint; other errors are thrown. */
export async function performRequest(
  pulse: Pulse,
  context: CommandContext,
  request: BoardRequest,
): Promise<Partial<Board>> {
  try {
    return await answerRequest(pulse, context, request);
  } catch (error) {
    if (!isPulseError(error)) throw error;
    return { said: [error.message, error.hint].filter(Boolean).join(' ') };
  }
}

async function answerRequest(
  pulse: Pulse,
  context: CommandContext,
  request: BoardRequest,
): Promise<Partial<Board>> {
  const { id } = request;
  const goOn = async (change: Promise<Changed>, said: string): Promise<Partial<Board>> => {
    const { session, next } = await change;
    if (next === 'run') await launchRunner(pulse, session, context);
    return { said };
  };
  switch (request.do) {
    case 'answer':
      return await goOn(pulse.resume(id, { answer: request.text }), 'Answered; the session continues.');
    case 'resume':
      return await goOn(pulse.resume(id), 'The session continues.');
    case 'accept':
      return await goOn(pulse.accept(id), 'Accepted; the session continues.');
    case 'reject':
      return await goOn(pulse.reject(id, { text: request.text }), 'Rejected; the next run is told why.');
    case 'note':
      return await goOn(pulse.note(id, { text: request.text }), 'The session has your note.');
    case 'pause':
      await pulse.pause(id);
      return { said: 'It pauses after this iteration.' };
    case 'abort':
      await pulse.abort(id);
      return { said: 'Aborted. Its branch stays.' };
    case 'diff':
      return pages('What it changed', await changeLines(pulse, id, context.environment));
    case 'evidence':
      return pages('Why its result may be believed', await evidenceLines(pulse, id));
    case 'open':
      return { said: await openPage(pulse, context, id) };
  }
}

/** The link signs a browser in, once: it is handed to a browser of this machine, and not left on a screen. */
async function openPage(pulse: Pulse, { environment }: CommandContext, id: string): Promise<string> {
  const url = servingAt(pulse.home.serveLock);
  if (url === null) return 'Nobody serves its page now: pulse serve does.';
  const isOpened = await openInBrowser(await loginLink(pulse, url, { sessionId: id }), environment);
  return isOpened ? 'Its page is opened.' : `There is no browser here: pulse open ${id} prints the link.`;
}

function pages(title: string, lines: string[]): { pages: Pages } {
  return { pages: { title, lines, top: 0 } };
}
