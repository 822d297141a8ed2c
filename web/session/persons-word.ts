/** An event as the word of a person, where it is one. */
import type { PulseEvent } from '../api/types.ts';

export const SAID_BY_PEOPLE = [
  'session.resumed',
  'session.merged',
  'session.aborted',
  'note.added',
  'checks.accepted',
  'checks.rejected',
  'PlanCardResolved',
  'ExtensionApproved',
] as const;

export interface PersonsWord {
  who: string;
  did: string;
  text: string | null;
}

/** `null`: nobody said it. */
export function personsWord({ type, data }: Pick<PulseEvent, 'type' | 'data'>): PersonsWord | null {
  const text = (name: string): string | null => {
    const value = data[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const who = text('actor');
  if (who === null) return null;
  switch (type) {
    case 'session.resumed':
      return { who, did: text('answer') ? 'answered ' : 'resumed it', text: text('answer') };
    case 'note.added':
      return { who, did: 'noted ', text: text('text') };
    case 'checks.accepted':
      return { who, did: 'accepted the changed checks', text: null };
    case 'checks.rejected':
      return { who, did: 'rejected the changed checks ', text: text('text') };
    case 'PlanCardResolved':
      return {
        who,
        did: `${text('resolution') ?? 'decided about'} the plan or the work `,
        text: text('text'),
      };
    case 'ExtensionApproved':
      return { who, did: 'approved another run', text: null };
    case 'session.merged':
      return { who, did: 'merged it', text: null };
    case 'session.aborted':
      return { who, did: 'aborted it', text: null };
    default:
      return null;
  }
}
