/** What a person said while the session ran, as a brief quotes it and as a running agent is told of it. */
import { fenced } from './fence.ts';

/** '' where nothing was said. `heading` as the brief has them. */
export function notesSection(notes: readonly string[], heading: '#' | '##'): string {
  if (notes.length === 0) return '';
  const quoted = notes.map((note) => fenced(note)).join('\n\n');
  return `${heading} Notes from the person\n\nSaid while you or an earlier run worked. They steer the work from here on.\n\n${quoted}`;
}

/** Told beside a tool's answer. */
export function notesNotice(notes: readonly string[]): string {
  return `The person for whom you work says, while you work: ${notes.join('\n\n')}`;
}
