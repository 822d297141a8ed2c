/** Search in goals, turns, mail, beads and changed files at once. */
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { query } from '../api/client.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import { sessionAddress, useParameter } from '../ui/address.ts';
import { shortSha } from '../ui/format.ts';
import { Empty, Failure, Section } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';

const PARTS = ['goals', 'turns', 'mail', 'beads', 'files'] as const;
const TYPED_MS = 200;

type SearchAnswer = Awaited<ReturnType<typeof pulse.search>>;

export default function Search() {
  const [q, setQ] = useParameter('q', '');
  const [parts, setParts] = useParameter('in', PARTS.join(','));
  const [text, setText] = useState(q);
  const chosen = parts.split(',');
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed is waited for
  useEffect(() => {
    if (text === q) return;
    // While another view is loaded this one is still there, unseen: it must not take its address back.
    const timer = setTimeout(() => location.pathname === '/search' && setQ(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isAsked = q.trim() !== '';
  const { data, error } = useAnswer(
    ['search', q, parts],
    (call) => pulse.search({ q, in: parts, limit: 20 }, call),
    { isEnabled: isAsked },
  );
  const toggle = (part: string): void => {
    const next = PARTS.filter((one) => (one === part ? !chosen.includes(one) : chosen.includes(one)));
    setParts(next.length === 0 ? PARTS.join(',') : next.join(','));
  };
  const found = PARTS.reduce((sum, part) => sum + (data?.[part]?.length ?? 0), 0);
  return (
    <div className="search">
      <header className="page-head">
        <h1>Search</h1>
      </header>
      <input
        type="search"
        aria-label="Search"
        className="search-field"
        placeholder="Words of a goal, a turn, a mail, a bead, a path"
        // biome-ignore lint/a11y/noAutofocus: this is what the page is for
        autoFocus
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <fieldset className="choice">
        <legend className="unseen">Where</legend>
        {PARTS.map((part) => (
          <label key={part}>
            <input type="checkbox" checked={chosen.includes(part)} onChange={() => toggle(part)} /> {part}
          </label>
        ))}
      </fieldset>
      <Failure error={error} />
      {!isAsked && <Empty command="pulse context search WORDS">Type what you look for.</Empty>}
      {isAsked && data && found === 0 && <Empty>Nothing was found for "{data.query}".</Empty>}
      {isAsked && data && <Results data={data} />}
    </div>
  );
}

function Results({ data }: { data: SearchAnswer }) {
  return (
    <>
      <Found title="Sessions" count={data.goals?.length}>
        {data.goals?.map((one) => (
          <li key={one.sessionId}>
            <Outcome word={one.status} />{' '}
            <Link href={sessionAddress({ id: one.sessionId, kind: one.kind })} data-row>
              {one.goal}
            </Link>{' '}
            <span className="dim">
              {one.project}, <Ago at={one.createdAt} suffix=" ago" />
            </span>
          </li>
        ))}
      </Found>
      <Found title="Turns" count={data.turns?.length}>
        {data.turns?.map((one) => (
          <li key={one.turnId}>
            <Link href={placeOf(one, { tab: 'context', turn: one.turnId })} data-row>
              {one.role}
            </Link>{' '}
            {one.excerpt}{' '}
            <span className="dim">
              <Ago at={one.createdAt} suffix=" ago" />
            </span>
          </li>
        ))}
      </Found>
      <Found title="Mail" count={data.mail?.length}>
        {data.mail?.map((one) => (
          <li key={one.messageId}>
            <Link href={placeOf(one, { tab: 'mail', thread: one.threadId })} data-row>
              {one.subject}
            </Link>{' '}
            <span className="dim">{one.from}</span> {one.excerpt}
          </li>
        ))}
      </Found>
      <Found title="Beads" count={data.beads?.length}>
        {data.beads?.map((one) => (
          <li key={one.beadId}>
            <Outcome word={one.status} />{' '}
            <Link href={placeOf(one, { bead: one.beadId })} data-row>
              {one.title}
            </Link>{' '}
            <code className="dim">{one.beadId}</code>
          </li>
        ))}
      </Found>
      <Found title="Files" count={data.files?.length}>
        {data.files?.map((one) => (
          <li key={`${one.sessionId}${one.iteration}${one.path}`}>
            <Link href={`/s/${one.sessionId}/i/${one.iteration}?tab=diff`} data-row>
              <code>{one.path}</code>
            </Link>{' '}
            <span className="dim">
              iteration {one.iteration} {shortSha(one.commit)}
            </span>
          </li>
        ))}
      </Found>
    </>
  );
}

/** On the page of the project; one whose folder is not known is named by its id. */
function placeOf(
  { projectPath, projectId }: Pick<NonNullable<SearchAnswer['beads']>[number], 'projectPath' | 'projectId'>,
  what: Record<string, string>,
): string {
  return `/project${query({ path: projectPath ?? projectId, ...what })}`;
}

function Found({
  title,
  count,
  children,
}: {
  title: string;
  count: number | undefined;
  children: ReactNode;
}) {
  if (!count) return null;
  return (
    <Section title={title} aside={<span className="count">{count}</span>}>
      <ul className="found">{children}</ul>
    </Section>
  );
}
