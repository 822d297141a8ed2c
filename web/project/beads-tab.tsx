/** The beads of a project: which there are, which comes next and why; making, drafting, taking over, giving away. */
import { useAction } from '../api/action.ts';
import { useDownload } from '../api/download.ts';
import { pulse } from '../api/pulse.ts';
import { useAnswer } from '../api/queries.ts';
import { BeadDialog } from '../swarm/bead-dialog.tsx';
import { sessionAddress, useGo, useParameter } from '../ui/address.ts';
import { FormPanel } from '../ui/form.tsx';
import { Button, Empty, Failure, Loading, Section } from '../ui/parts.tsx';
import { Outcome } from '../ui/status.tsx';
import { CREATE, createBead, IMPORT, PLAN } from './bead-fields.ts';

const STATUSES = ['', 'open', 'in_progress', 'blocked', 'closed'] as const;

export function BeadsTab({ project }: { project: string }) {
  const [status, setStatus] = useParameter('status', '');
  const [epic, setEpic] = useParameter('epic', '');
  const [open, setOpen] = useParameter('bead', '');
  const { data, error } = useAnswer(
    ['beads', project, status, epic],
    (call) =>
      pulse.bead.list({ project_key: project, status: status || undefined, epic: epic || undefined }, call),
    { everyMs: 10_000 },
  );
  return (
    <>
      <div className="row">
        <label className="inline">
          Status{' '}
          <select value={status} onChange={({ target }) => setStatus(target.value)}>
            {STATUSES.map((one) => (
              <option key={one} value={one}>
                {one === '' ? 'any' : one.replace('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        <label className="inline">
          Of epic <input size={16} value={epic} onChange={({ target }) => setEpic(target.value)} />
        </label>
      </div>
      <Failure error={error} />
      {!data && !error && <Loading of="the beads" />}
      {data?.beads.length === 0 && (
        <Empty command={'pulse bead create --title "…" --file F --verify CMD'}>No bead is here.</Empty>
      )}
      <ul className="found" aria-label="Beads">
        {data?.beads.map((bead) => (
          <li key={bead.id}>
            <Outcome word={bead.status} />{' '}
            <button type="button" className="link" data-row onClick={() => setOpen(bead.id)}>
              {bead.title}
            </button>{' '}
            <code className="dim">{bead.id}</code>{' '}
            <span className="dim">
              {bead.type}, priority {bead.priority}
              {bead.epic && `, of ${bead.epic}`}
            </span>
            {bead.missing.length > 0 && <span className="tone-needs"> lacks {bead.missing.join(', ')}</span>}
          </li>
        ))}
      </ul>
      <Next project={project} epic={epic} onOpen={setOpen} />
      <Changes project={project} />
      {open && <BeadDialog id={open} project={project} onClose={() => setOpen('')} />}
    </>
  );
}

function Next({ project, epic, onOpen }: { project: string; epic: string; onOpen(id: string): void }) {
  const { data } = useAnswer(['next bead', project, epic], (call) =>
    pulse.bead.next({ project_key: project, epic: epic || undefined, why: true }, call),
  );
  if (!data) return null;
  const { bead, why } = data;
  return (
    <Section title="Next">
      {bead ? (
        <p>
          <button type="button" className="link" onClick={() => onOpen(bead.id)}>
            {bead.title}
          </button>{' '}
          <code className="dim">{bead.id}</code>{' '}
          {why?.chosen && (
            <span className="dim">
              priority {why.chosen.priority}, critical path {why.chosen.critical_path}, unblocks{' '}
              {why.chosen.unblocks}
            </span>
          )}
        </p>
      ) : (
        <p className="dim">No bead can be begun now.</p>
      )}
      {why && why.skipped.length > 0 && (
        <details>
          <summary>{why.skipped.length} passed over</summary>
          <ul className="reasons">
            {why.skipped.map(({ id, reasons }) => (
              <li key={id}>
                <code>{id}</code> {reasons.join('; ')}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Section>
  );
}

function Changes({ project }: { project: string }) {
  const go = useGo();
  const fixed = { project_key: project };
  const create = useAction(createBead, { says: 'The bead is made' });
  const take = useAction(pulse.bead.importFile, { says: 'The beads are imported' });
  const plan = useAction(pulse.bead.plan, {
    says: 'An agent drafts the beads',
    onDone: ({ session }) => go(sessionAddress(session)),
  });
  const download = useDownload();
  return (
    <Section title="Change">
      <FormPanel
        title="New bead"
        label="New bead"
        fields={CREATE}
        draft="bead"
        action={create}
        fixed={fixed}
        submit="Create bead"
      />
      <FormPanel
        title="Draft beads for a goal"
        label="Draft beads"
        fields={PLAN}
        draft="bead-plan"
        action={plan}
        fixed={{ projectPath: project }}
        submit="Draft beads"
      />
      <FormPanel
        title="Import beads"
        label="Import beads"
        fields={IMPORT}
        draft="bead-import"
        action={take}
        fixed={fixed}
        submit="Import"
      />
      {take.result && (
        <p className="tone-done" role="status">
          {take.result.created.length} made, {take.result.updated.length} changed,{' '}
          {take.result.unchanged + take.result.kept} as they were
        </p>
      )}
      <p>
        <Button onClick={() => download.run(`/api/beads/export?project_key=${encodeURIComponent(project)}`)}>
          Export beads
        </Button>
      </p>
      <Failure error={download.error} />
    </Section>
  );
}
