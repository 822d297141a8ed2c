/** Beads that an agent has drafted: their commands before all else, then each bead; importing them is their approval. */
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { useAction } from '../api/action.ts';
import { query } from '../api/client.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import type { Head } from '../api/types.ts';
import { plural } from '../ui/format.ts';
import { Markdown } from '../ui/markdown.tsx';
import { ActionButton, Button, Empty, Failure, Loading, Section } from '../ui/parts.tsx';

type Plan = Awaited<ReturnType<typeof pulse.bead.showPlan>>;
type Drafted = NonNullable<Plan['draft']>;

export default function BeadDraft({ id, head }: { id: string; head: Head }) {
  const { data, error } = useAnswer(['bead plan', id], (call) => pulse.bead.showPlan({ id }, call));
  if (!data) return error ? <Failure error={error} /> : <Loading of="the draft" />;
  const { draft, commands, content, file } = data;
  if (!draft || content === null) return <Empty>Nothing is drafted yet.</Empty>;
  const project = head.session.project_path;
  return (
    <>
      <Approval draft={draft} commands={commands} content={content} project={project} file={file} />
      <Section
        title={draft.epic.title}
        aside={
          <span className="dim">
            <code>{draft.epic.id}</code>, {plural(draft.beads.length, 'bead')}
          </span>
        }
      >
        {draft.epic.body && <Markdown text={draft.epic.body} />}
        <ol className="pulses" aria-label="Drafted beads">
          {draft.beads.map((bead) => (
            <DraftedBead key={bead.id} bead={bead} />
          ))}
        </ol>
      </Section>
    </>
  );
}

interface ApprovalProps {
  draft: Drafted;
  commands: Plan['commands'];
  content: string;
  project: string;
  file: string | null;
}

function Approval({ draft, commands, content, project, file }: ApprovalProps) {
  const [edited, setEdited] = useState<string | null>(null);
  const { epic } = draft;
  const known = useAnswer(['beads', project, epic.id], (call) =>
    pulse.bead.list({ project_key: project, epic: epic.id }, call),
  );
  const take = useAction(pulse.bead.importFile, {
    says: 'The beads are imported',
    onDone: () => setEdited(null),
  });
  const isThere = (known.data?.beads.length ?? 0) > 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    take.run({ project_key: project, content: edited ?? content, format: 'draft' });
  };
  if (isThere) {
    return (
      <section className="decide tone-edge-done">
        <p>
          The beads are in the graph.{' '}
          <Link href={`/project${query({ path: project, tab: 'graph', epic: epic.id })}`}>Their graph</Link>{' '}
          <Link href={`/project${query({ path: project, epic: epic.id })}`}>Their list</Link>
        </p>
      </section>
    );
  }
  return (
    <form className="decide tone-edge-needs stack" id="decide" aria-label="Bead draft" onSubmit={submit}>
      <h2>{plural(draft.beads.length, 'bead')} drafted: import them, if you agree</h2>
      <p>
        Workers would run {commands.length === 0 ? 'no command' : plural(commands.length, 'command')} of it:
      </p>
      <ul className="reasons" aria-label="Commands">
        {commands.map(({ bead, command }) => (
          <li key={`${bead} ${command}`}>
            <code>{command}</code> <span className="dim">({bead})</span>
          </li>
        ))}
      </ul>
      {file && (
        <p className="hint">
          It is also in <code>{file}</code>; changes of that file are not shown here.
        </p>
      )}
      {edited !== null && (
        <label>
          Draft
          <textarea
            className="code"
            rows={20}
            value={edited}
            onChange={({ target }) => setEdited(target.value)}
          />
        </label>
      )}
      <Failure error={take.error} />
      <p className="row">
        <ActionButton type="submit" isPrimary disabled={take.isBusy || edited?.trim() === ''}>
          {edited === null ? 'Import' : 'Import edited draft'}
        </ActionButton>
        {edited === null ? (
          <Button onClick={() => setEdited(content)}>Edit draft</Button>
        ) : (
          <Button onClick={() => setEdited(null)}>Cancel</Button>
        )}
      </p>
    </form>
  );
}

function DraftedBead({ bead }: { bead: Drafted['beads'][number] }) {
  const { id, title, dependencies = [], files, verify, tdd_steps: steps } = bead;
  return (
    <li>
      <p>
        <b>{title}</b> <code className="dim">{id}</code>{' '}
        {dependencies.length > 0 && <span className="dim">after {dependencies.join(', ')}</span>}
        {bead.changesChecks && <span className="tone-needs"> changes checks</span>}
      </p>
      {bead.body && <Markdown text={bead.body} />}
      <dl className="facts facts-tall">
        <div>
          <dt>files</dt>
          <dd>
            {files.map((path) => (
              <code key={path} className="path">
                {path}
              </code>
            ))}
          </dd>
        </div>
        <div>
          <dt>verify</dt>
          <dd>
            {steps && (
              <>
                <code className="path">{steps.red}</code> must fail first,{' '}
                <code className="path">{steps.green}</code> pass then
              </>
            )}
            {verify.map(({ command, expect }) => (
              <span key={command}>
                <code className="path">{command}</code>
                {expect && <span className="dim"> expects {expect}</span>}
              </span>
            ))}
          </dd>
        </div>
      </dl>
    </li>
  );
}
