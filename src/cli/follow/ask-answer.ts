/** A session that asks something is answered where it was followed, without another command. */
import { createInterface } from 'node:readline';
import { nextCommand } from '../../domain/next-command.ts';
import type { Session } from '../../store/sessions.ts';
import type { Output } from '../output.ts';
import { isInForeground } from './follow-keys.ts';

/** It is blocked by something that an answer can settle, and somebody is there to give it. */
export function canAnswer(session: Session, { isJson, stderr }: Output): boolean {
  const isThere = !isJson && stderr.isTerminal && process.stdin.isTTY === true && isInForeground();
  return (
    isThere && session.status === 'blocked' && nextCommand(session, { isDriven: true })?.label === 'answer'
  );
}

/** `null`: not now. Enter alone, Ctrl-C and the end of the input leave it as it is. */
export function askAnswer({ stderr }: Output): Promise<string | null> {
  const prompt = `${stderr.style.bold('answer')} ${stderr.style.dim('(Enter leaves it for later)')} › `;
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  return new Promise((resolve) => {
    const done = (answer: string | null): void => {
      // Before it is closed, which is another end of it.
      resolve(answer);
      reader.close();
      process.stdin.pause();
    };
    reader.once('close', () => resolve(null));
    reader.on('SIGINT', () => {
      process.stderr.write('\n');
      done(null);
    });
    reader.question(prompt, (text) => done(text.trim() === '' ? null : text.trim()));
  });
}
