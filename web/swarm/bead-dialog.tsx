/** One bead: what is to be done, in which files, what verifies it; changing it, closing it, widening its scope. */
import { type FormEvent, useState } from 'react';
import { useAction } from '../api/action.ts';
import { query } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import type { Bead } from '../api/types.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { ActionButton, Button, Failure, Loading } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { BeadForm } from './bead-form.tsx';

export function BeadDialog({ id, project, onClose }: { id: string; project: string; onClose(): void }) {
  const path = `/api/beads/${encodeURIComponent(id)}`;
  const { data, error } = useRead<{ bead: Bead }>(`${path}${query({ project_key: project })}`);
  const [file, setFile] = useState('');
  const [reason, setReason] = useState('');
  const [isEdited, setIsEdited] = useState(false);
  const scope = useAction(`${path}/scope`, { says: 'The scope is wider', onDone: () => setFile('') });
  const close = useAction(`${path}/close`, { says: 'The bead is closed', onDone: onClose });
  const bead = data?.bead;
  const widen = (event: FormEvent): void => {
    event.preventDefault();
    scope.run({ add: [file.trim()], project_key: project });
  };
  return (
    <Dialog label={`Bead ${id}`} onClose={onClose}>
      <Failure error={error} />
      {!bead && !error && <Loading of="the bead" />}
      {bead && (
        <div className="stack">
          <h2>{bead.title}</h2>
          <p>
            <Outcome word={bead.status} /> <code>{bead.id}</code>{' '}
            <span className="dim">
              {bead.type}, priority {bead.priority} {bead.assignee}
            </span>
          </p>
          {bead.missing.length > 0 && <p className="tone-needs">It lacks {bead.missing.join(', ')}.</p>}
          {bead.body && <Markdown text={bead.body} />}
          <dl className="facts facts-tall">
            <div>
              <dt>files</dt>
              <dd>
                {bead.files.map((path) => (
                  <code key={path} className="path">
                    {path}
                  </code>
                ))}
              </dd>
            </div>
            <div>
              <dt>verify</dt>
              <dd>
                {bead.verify.map(({ command }) => (
                  <code key={command} className="path">
                    {command}
                  </code>
                ))}
              </dd>
            </div>
            <div>
              <dt>after</dt>
              <dd>{bead.dependencies.join(', ') || 'nothing'}</dd>
            </div>
          </dl>
          {isEdited && <BeadForm bead={bead} project={project} onClose={() => setIsEdited(false)} />}
          {bead.status !== 'closed' && !isEdited && (
            <>
              <p>
                <Button onClick={() => setIsEdited(true)}>Edit bead</Button>
              </p>
              <form className="row" onSubmit={widen}>
                <label>
                  Add a file <input value={file} onChange={({ target }) => setFile(target.value)} />
                </label>
                <ActionButton type="submit" disabled={scope.isBusy || file.trim() === ''}>
                  Widen scope
                </ActionButton>
              </form>
              <p className="row">
                <label>
                  Reason <input value={reason} onChange={({ target }) => setReason(target.value)} />
                </label>
                <ActionButton
                  disabled={close.isBusy || reason.trim() === ''}
                  onClick={() => close.run({ reason, project_key: project })}
                >
                  Close bead
                </ActionButton>
              </p>
            </>
          )}
          <Failure error={scope.error ?? close.error} />
        </div>
      )}
      <p className="dialog-end">
        <Button onClick={onClose}>Close</Button>
      </p>
    </Dialog>
  );
}
