/** What an event says in a line: its text, else its plain values. */
const TEXTS = ['text', 'answer', 'message', 'reason', 'activity', 'command', 'goal'] as const;
const LONGEST = 300;
const MOST_VALUES = 6;

export function eventWords(data: Readonly<Record<string, unknown>>): string {
  const said = TEXTS.map((name) => data[name]).find((value) => typeof value === 'string' && value !== '');
  if (said !== undefined) return shortened(String(said));
  const plain = Object.entries(data).filter(
    ([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
  );
  return shortened(
    plain
      .slice(0, MOST_VALUES)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(', '),
  );
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
