import { createInterface } from 'node:readline/promises';

/** Asks at the terminal; anything but yes is no. Only where somebody is there (`canAsk`). */
export async function isConfirmed(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}

/** What is typed; empty where the input ends. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}
