/** What people said to the session, and who: answers, notes, decisions. From its events. */
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import type { PulseEvent } from '../api/types.ts';
import { At } from '../ui/time.tsx';
import { personsWord, SAID_BY_PEOPLE } from './persons-word.ts';

const MOST = 200;

function useSaid(id: string) {
  const { data } = useAnswer([`people ${id}`], (call) =>
    pulse.history({ id, types: SAID_BY_PEOPLE.join(','), limit: MOST }, call),
  );
  return (data?.events ?? []).flatMap((event: PulseEvent) => {
    const word = personsWord(event);
    return word ? [{ event, word }] : [];
  });
}

/** Whoever wanted to decide something that is decided already sees by whom. */
export function LastSaid({ id }: { id: string }) {
  const last = useSaid(id).at(-1);
  if (!last) return null;
  return (
    <div>
      <dt>last said</dt>
      <dd>
        {last.word.who} {last.word.did.trim()} <At at={last.event.at} />
      </dd>
    </div>
  );
}

export function People({ id }: { id: string }) {
  const said = useSaid(id);
  if (said.length === 0) return null;
  return (
    <section className="claim">
      <h4>What people said</h4>
      <ul className="reasons" aria-label="What people said">
        {said.map(({ event, word }) => (
          <li key={event.seq}>
            <b>{word.who}</b> <At at={event.at} /> {word.did}
            {word.text && <q className="said">{word.text}</q>}
          </li>
        ))}
      </ul>
    </section>
  );
}
