/** What was said in a project: its turns, found by words; the slice around one; places in its code; transcripts taken in. */
import { useState } from 'react';
import { useAction } from '../api/action.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import { useParameter } from '../ui/address.ts';
import { Dialog } from '../ui/dialog.tsx';
import { type Field, FormPanel } from '../ui/form.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Button, Empty, Failure, Loading, Section } from '../ui/parts.tsx';
import { Ago } from '../ui/time.tsx';

const IMPORT: Field[] = [
  {
    name: 'paths',
    label: 'Files or folders',
    kind: 'lines',
    hint: 'Transcripts of Claude Code or Codex, one a line. Empty: where they keep them for this project.',
  },
];

export function ContextTab({ project }: { project: string }) {
  const [words, setWords] = useParameter('q', '');
  const [typed, setTyped] = useState(words);
  const [open, setOpen] = useParameter('turn', '');
  const take = useAction(pulse.context.importTurns, { says: 'The transcripts are imported' });
  return (
    <>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          setWords(typed.trim());
        }}
      >
        <label className="grow">
          Find in turns and code
          <input type="search" value={typed} onChange={({ target }) => setTyped(target.value)} />
        </label>
        <Button type="submit">Find</Button>
      </form>
      {words === '' ? (
        <Turns project={project} onOpen={setOpen} />
      ) : (
        <Found project={project} words={words} onOpen={setOpen} />
      )}
      <Section title="Change">
        <FormPanel
          title="Import transcripts"
          label="Import transcripts"
          fields={IMPORT}
          draft="context-import"
          action={take}
          fixed={{ project_key: project }}
          submit="Import"
        />
        {take.result && (
          <p className="tone-done" role="status">
            {take.result.added} turns of {take.result.conversations} conversations are new
          </p>
        )}
      </Section>
      {open && <TurnDialog project={project} id={open} onClose={() => setOpen('')} />}
    </>
  );
}

interface PartProps {
  project: string;
  onOpen(id: string): void;
}

function Turns({ project, onOpen }: PartProps) {
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const { data, error } = useAnswer(['turns', project, cursor], (call) =>
    pulse.context.listTurns({ project_key: project, limit: 100, cursor }, call),
  );
  if (!data) return error ? <Failure error={error} /> : <Loading of="the turns" />;
  if (data.turns.length === 0)
    return <Empty command="pulse context import">No turn of this project is known.</Empty>;
  return (
    <Section title="Turns">
      <ul className="found" aria-label="Turns">
        {data.turns.map((turn) => (
          <li key={turn.id}>
            <button type="button" className="link" data-row onClick={() => onOpen(turn.id)}>
              {turn.role}, {turn.phase}
            </button>{' '}
            <code className="dim">{turn.id}</code>{' '}
            <span className="dim">
              <Ago at={turn.created_at} suffix=" ago" />
            </span>
          </li>
        ))}
      </ul>
      {data.nextCursor && <Button onClick={() => setCursor(data.nextCursor!)}>Later turns</Button>}
    </Section>
  );
}

function Found({ project, words, onOpen }: PartProps & { words: string }) {
  const asked = { project_key: project, query: words, limit: 20 };
  const turns = useAnswer(['found turns', asked], (call) => pulse.context.searchTurns(asked, call));
  const code = useAnswer(['found code', asked], (call) => pulse.context.searchCode(asked, call));
  return (
    <>
      <Section title="Turns">
        <Failure error={turns.error} />
        {turns.data?.results.length === 0 && <p className="dim">No turn says that.</p>}
        <ul className="found" aria-label="Found turns">
          {turns.data?.results.map((one) => (
            <li key={one.turn_id}>
              <button type="button" className="link" data-row onClick={() => onOpen(one.turn_id)}>
                {one.role}, {one.phase}
              </button>{' '}
              {one.excerpt}
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Code" aside={<span className="dim">{code.data && `index: ${code.data.index}`}</span>}>
        <Failure error={code.error} />
        {code.data?.results.length === 0 && <p className="dim">No place in the code is about that.</p>}
        <ul className="found" aria-label="Found code">
          {code.data?.results.map(({ path, line, text }) => (
            <li key={`${path}:${line}`}>
              <code>
                {path}:{line}
              </code>{' '}
              <code className="dim">{text}</code>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

function TurnDialog({ project, id, onClose }: { project: string; id: string; onClose(): void }) {
  const asked = { id, project_key: project };
  const [policy, setPolicy] = useState('default');
  const turn = useAnswer(['turn', asked], (call) => pulse.context.showTurn(asked, call));
  const slice = useAnswer(['slice', asked, policy], (call) =>
    pulse.context.createSlice({ ...asked, policy }, call),
  );
  return (
    <Dialog label={`Turn ${id}`} onClose={onClose}>
      <h2>Turn</h2>
      <Failure error={turn.error ?? slice.error} />
      {turn.data && <Markdown text={turn.data.turn.content} />}
      <p className="row">
        <label className="inline">
          Which turns belong to it{' '}
          <select value={policy} onChange={({ target }) => setPolicy(target.value)}>
            <option value="default">as usual</option>
            <option value="near">only near ones</option>
          </select>
        </label>
      </p>
      {slice.data && (
        <p className="dim">
          Its slice <code>{slice.data.slice_id}</code> has {slice.data.node_count} turns.
        </p>
      )}
      <p className="dialog-end">
        <Button onClick={onClose}>Close</Button>
      </p>
    </Dialog>
  );
}
