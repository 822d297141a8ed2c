/** An experiment's description: what the agent described first, else the first line of its final message. */

const LONGEST = 300;

export interface Told {
  /** By the tool. */
  description?: string | null;
  finalMessage: string;
}

/** `null`: the agent said nothing. */
export function describedBy({ description, finalMessage }: Told): string | null {
  const first = finalMessage.split('\n').find((line) => line.trim() !== '' && !line.includes('<signal>'));
  return (description ?? first ?? '').trim().slice(0, LONGEST) || null;
}
